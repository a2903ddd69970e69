"""What a training is told: the model, the stages, the steps; read from TOML, checked in full."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.rules import parse_rule

MODELS = ("am-dynamic", "am", "pn-dynamic", "pn", "am-gain")
"""The models by name: the paper's, its baselines, and ours."""

FORMS = ("text", "released")
GUIDANCE = ("c/N", "(c-1)/N")
ATTENTIONS = ("all", "coverage")
NORMALISATIONS = ("layer", "instance")
MASKS = ("visited", "useful")
BASELINES = ("shared", "greedy", "critic")
OPTIMISERS = ("adam", "muon")
SCHEDULES = ("constant", "cosine")
LEARN = ("reinforce", "imitate")
LARGEST_SIZE = 2_000
"""A training on more places than this would not fit in memory."""

PRESETS = Path(__file__).parent / "training" / "presets"


@dataclass(frozen=True)
class RuleRange:
    """A coverage rule of random instances: ``kind`` nearest or radius, drawn per place if a range.

    >>> rule_range("nearest 2-15")
    RuleRange(kind='nearest', low=2.0, high=15.0)
    """

    kind: str
    low: float
    high: float


def rule_range(text: str) -> RuleRange:
    """The rule that a text such as ``nearest 7`` or ``radius 0-0.25`` names."""
    ((kind, value),) = parse_rule(text).items()
    low, high = value if isinstance(value, tuple) else (value, value)
    return RuleRange(kind, float(low), float(high))


@dataclass(frozen=True)
class ModelConfig:
    """The model and its sizes; the defaults are the paper's.

    ``form``: am-dynamic as in the paper's ``text`` or as in the ``released`` code of its authors
    (:mod:`covertour.neural.models.attention_dynamic`). ``guidance``: what the guidance of the c-th
    nearest of N covered places is multiplied with, ``c/N`` (the text) or ``(c-1)/N`` (the code).
    ``attention``: whom heads attend to. ``all``: all places (the paper). ``coverage``, ours: a
    quarter of the encoder's heads only to those that a place covers, another quarter only to those
    that cover it, and half of the heads of am-dynamic's glimpse only to what is still uncovered; so
    the network need not work out from positions who covers whom, nor from stops what is left to do.
    ``mask``: which places may not be the next stop: those ``visited`` (the paper), or all that
    cover nothing new (``useful``); empty for the model's own choice, which is ``useful`` for
    am-gain. ``normalisation`` in the encoder: over the features of a place (``layer``, the word
    that the paper uses), or over the places (``instance``, close to the batch normalisation of
    Kool et al., whom it follows). In equal trials of am-dynamic that sees coverage they are alike
    on 20 places, and ``layer`` is far behind on 50; of the paper's form it is so on 20 already
    (docs/results/recipe.md). ``polish``: whether its tours are polished
    (:mod:`covertour.neural.inference.polish`): ``yes``, ``no``, or empty for the model's own
    choice, which is ``yes`` for am-gain.
    """

    name: str = "am-gain"
    form: str = "released"
    guidance: str = "c/N"
    width: int = 128
    heads: int = 8
    layers: int = 3
    feed_forward: int = 512
    clip: float = 10.0
    attention: str = "all"
    normalisation: str = "instance"
    mask: str = ""
    polish: str = ""

    def __post_init__(self) -> None:
        _one_of("model.name", self.name, MODELS)
        ours = self.name == "am-gain"
        if not self.mask:
            object.__setattr__(self, "mask", "useful" if ours else "visited")
        if not self.polish:
            object.__setattr__(self, "polish", "yes" if ours else "no")
        _one_of("model.form", self.form, FORMS)
        _one_of("model.guidance", self.guidance, GUIDANCE)
        _one_of("model.attention", self.attention, ATTENTIONS)
        _one_of("model.normalisation", self.normalisation, NORMALISATIONS)
        _one_of("model.mask", self.mask, MASKS)
        _one_of("model.polish", self.polish, ("yes", "no"))
        for key, most in (("width", 4096), ("heads", 64), ("layers", 64), ("feed_forward", 16384)):
            _within(f"model.{key}", getattr(self, key), 1, most)
        _within("model.clip", self.clip, 1e-3, 1e6)
        if self.width % self.heads:
            raise InputError(
                f"model.width: expected a multiple of the {self.heads} heads, got {self.width}"
            )
        if self.attention == "coverage":
            _within("model.heads", self.heads, 4, 64)

    @property
    def covering_heads(self) -> int:
        """How many heads attend to whom a place covers, and how many to whom it is covered by."""
        return self.heads // 4 if self.attention == "coverage" else 0

    @property
    def open_heads(self) -> int:
        """How many heads of am-dynamic's glimpse attend to what is uncovered."""
        return self.heads // 2 if self.attention == "coverage" else 0

    @property
    def guided(self) -> bool:
        """Whether the model looks at the guidance."""
        return self.name in ("am-dynamic", "pn-dynamic", "am-gain")

    @property
    def gains(self) -> bool:
        """Whether it must be known how much each place would cover anew."""
        return self.name == "am-gain" or self.mask == "useful"


@dataclass(frozen=True)
class StageConfig:
    """A part of the curriculum: so many steps on random instances of these sizes and rules.

    ``sizes``: the least and the largest number of places; each step draws one, between 20 and 40
    as often as between 40 and 80. ``rules``: each instance draws one. ``learn``: ``reinforce``, or
    ``imitate`` tours of the search.
    """

    steps: int = 10_000
    sizes: tuple[int, ...] = (50, 50)
    rules: tuple[str, ...] = ("nearest 7",)
    learn: str = "reinforce"

    def __post_init__(self) -> None:
        _within("stage.steps", self.steps, 1, 10**9)
        _one_of("stage.learn", self.learn, LEARN)
        if len(self.sizes) != 2 or self.sizes[0] > self.sizes[1]:
            raise InputError(f"stage.sizes: expected [least, largest], got {list(self.sizes)}")
        for size in self.sizes:
            _within("stage.sizes", size, 2, LARGEST_SIZE)
        if not self.rules:
            raise InputError("stage.rules: expected at least one rule")
        for rule in self.rules:
            rule_range(rule)


@dataclass(frozen=True)
class TrainConfig:
    """How the steps are made.

    ``baseline``: ``greedy`` compares a sampled tour with the greedy one of the best policy so far,
    as in the paper, and looks for a better policy after every ``epoch_steps``, on
    ``epoch_instances``; ``shared`` compares the ``rollouts`` of an instance with their mean;
    ``critic`` compares each choice with what a small network expects, see
    :mod:`covertour.neural.training.critic`, whose λ is ``trace``. ``entropy``: how much the entropy
    of each choice counts against the cost; it falls with the learning rate.
    ``batch`` instances per step, over all processes. ``optimiser``: ``adam``, or ``muon`` for the
    matrices, with a learning rate of its own, ``muon_rate``. ``average``: how much of the running
    average of the weights stays at each step; it is what is validated and kept; 0 for the weights
    themselves. ``schedule``: the learning rate stays
    ``constant`` or falls to 0 with a ``cosine``, after ``warmup_steps`` of linear growth.
    ``clip_norm``: gradients are no longer than this; 0 for no limit. ``raw_share``: where tours are
    polished, how much the length before that counts in the cost, so that a good order is learned
    too. ``initial``: a file of weights of the model to begin with. The ``_every`` are in steps.
    """

    seed: int = 1
    baseline: str = "shared"
    batch: int = 64
    rollouts: int = 16
    optimiser: str = "adam"
    learning_rate: float = 1e-4
    muon_rate: float = 0.01
    average: float = 0.0
    schedule: str = "constant"
    warmup_steps: int = 0
    clip_norm: float = 1.0
    raw_share: float = 0.1
    trace: float = 0.9
    entropy: float = 0.0
    initial: str = ""
    epoch_steps: int = 1_250
    epoch_instances: int = 1_024
    log_every: int = 10
    validate_every: int = 250
    checkpoint_every: int = 250
    tensorboard: bool = True

    def __post_init__(self) -> None:
        _one_of("train.baseline", self.baseline, BASELINES)
        _one_of("train.optimiser", self.optimiser, OPTIMISERS)
        _within("train.muon_rate", self.muon_rate, 1e-9, 1.0)
        _within("train.average", self.average, 0.0, 0.999999)
        _one_of("train.schedule", self.schedule, SCHEDULES)
        _within("train.seed", self.seed, 0, 2**62)
        _within("train.batch", self.batch, 1, 10**6)
        _within("train.rollouts", self.rollouts, 1, 10**4)
        _within("train.learning_rate", self.learning_rate, 1e-9, 1.0)
        _within("train.warmup_steps", self.warmup_steps, 0, 10**9)
        _within("train.clip_norm", self.clip_norm, 0.0, 1e9)
        _within("train.raw_share", self.raw_share, 0.0, 1.0)
        _within("train.trace", self.trace, 0.0, 1.0)
        _within("train.entropy", self.entropy, 0.0, 1e3)
        everies = ("epoch_steps", "epoch_instances", "log_every", "validate_every")
        for key in (*everies, "checkpoint_every"):
            _within(f"train.{key}", getattr(self, key), 1, 10**9)
        if self.baseline != "greedy" and self.rollouts < 2:
            raise InputError(
                f"train.rollouts: the {self.baseline} baseline needs at least 2, got 1"
            )


@dataclass(frozen=True)
class ValidationConfig:
    """The fixed set on which the greedy policy is measured.

    So many ``instances``, taking turns through the ``sizes`` and ``rules``. No sizes or rules
    stand for those of the last stage.
    """

    instances: int = 128
    sizes: tuple[int, ...] = ()
    rules: tuple[str, ...] = ()
    seed: int = 1_000_000

    def __post_init__(self) -> None:
        _within("validation.instances", self.instances, 1, 10**5)
        _within("validation.seed", self.seed, 0, 2**62)
        for size in self.sizes:
            _within("validation.sizes", size, 2, LARGEST_SIZE)
        for rule in self.rules:
            rule_range(rule)


@dataclass(frozen=True)
class Config:
    """All that a training is told. In TOML: [model], [[stage]], [train], [validation]."""

    model: ModelConfig = field(default_factory=ModelConfig)
    stage: tuple[StageConfig, ...] = field(default_factory=lambda: (StageConfig(),))
    train: TrainConfig = field(default_factory=TrainConfig)
    validation: ValidationConfig = field(default_factory=ValidationConfig)

    @property
    def steps(self) -> int:
        """Number of steps of all stages."""
        return sum(stage.steps for stage in self.stage)

    def stage_of(self, step: int) -> StageConfig:
        """The stage in which a step, counted from 0, lies."""
        for stage in self.stage:
            if step < stage.steps:
                return stage
            step -= stage.steps
        return self.stage[-1]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, from which :func:`config_from` makes the same again."""
        return asdict(self)


def read_config(path: str | None, changes: Sequence[str] = ()) -> Config:
    """The config of a TOML file (- for standard input), a preset by name, or the default; changed.

    A change is ``section.key=value``, the value as in TOML; a text needs no quotes. ``stage.key``
    changes all stages.
    """
    source = "standard input" if path == "-" else path
    return config_from({} if path is None else _read_toml(path), changes, source)


def config_from(
    tables: Mapping[str, Any], changes: Sequence[str] = (), source: str | None = None
) -> Config:
    """The config of plain values; what makes no sense is told in one line that names the source."""
    prefix = "" if source is None else f"{source}: "
    try:
        whole = _sections(tables)
    except InputError as error:
        raise InputError(f"{prefix}{error}") from None
    for change in changes:
        _change(whole, change)
    try:
        return Config(
            model=_made(ModelConfig, "model", whole["model"]),
            stage=tuple(_made(StageConfig, "stage", part) for part in whole["stage"]),
            train=_made(TrainConfig, "train", whole["train"]),
            validation=_made(ValidationConfig, "validation", whole["validation"]),
        )
    except InputError as error:
        raise InputError(f"{prefix}{error}") from None


def _read_toml(path: str) -> dict[str, Any]:
    """The tables of a file, of a preset, or of what comes on standard input (-)."""
    if path == "-":
        return _tables("standard input", sys.stdin.buffer.read)
    file = Path(path)
    if not file.suffix and not file.exists():
        presets = sorted(preset.stem for preset in PRESETS.glob("*.toml"))
        if path not in presets:
            raise InputError(f"{path}: no such file, and no preset; there are {', '.join(presets)}")
        file = PRESETS / f"{path}.toml"
    return _tables(path, file.read_bytes)


def _tables(path: str, read: Callable[[], bytes]) -> dict[str, Any]:
    try:
        return tomllib.loads(read().decode("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except RecursionError:
        raise InputError(f"{path}: not TOML: lists too deep") from None
    except ValueError as error:  # also not UTF-8, and numbers of thousands of digits
        raise InputError(f"{path}: not TOML: {error}") from None


def _sections(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables by name, all of them there, in the shapes that they must have."""
    whole: dict[str, Any] = {"model": {}, "stage": [{}], "train": {}, "validation": {}}
    for name, value in tables.items():
        if name not in whole:
            raise InputError(f"no table [{name}]{did_you_mean(name, list(whole))}")
        many = name == "stage"
        parts = value if many and isinstance(value, list | tuple) else [value]
        if not parts or not all(isinstance(part, Mapping) for part in parts):
            raise InputError(f"{name}: expected {'tables [[stage]]' if many else f'[{name}]'}")
        whole[name] = [dict(part) for part in parts] if many else dict(value)
    return whole


def _change(whole: dict[str, Any], change: str) -> None:
    match = re.fullmatch(r"(\w+)\.(\w+)=(.*)", change)
    if match is None or match[1] not in whole:
        raise InputError(f"--set: expected section.key=value, got {shown(change)}")
    section, key, text = match.groups()
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, KeyError, RecursionError):
        value = text
    for part in whole[section] if section == "stage" else [whole[section]]:
        part[key] = value


Section = TypeVar("Section", ModelConfig, StageConfig, TrainConfig, ValidationConfig)


def _made(kind: type[Section], section: str, values: Mapping[str, Any]) -> Section:
    """A section from its values, each of the type of the default."""
    defaults = {one.name: getattr(kind(), one.name) for one in fields(kind)}
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in defaults:
            raise InputError(f"[{section}] has no key {key!r}{did_you_mean(key, list(defaults))}")
        checked[key] = _typed(f"{section}.{key}", value, defaults[key])
    return kind(**checked)


def _typed(key: str, value: Any, like: Any) -> Any:
    right = isinstance(value, type(like)) and isinstance(value, bool) == isinstance(like, bool)
    if isinstance(like, tuple):
        kind = int if key.endswith("sizes") else str
        if isinstance(value, list | tuple) and all(type(member) is kind for member in value):
            return tuple(value)
        noun = "whole numbers" if kind is int else "texts"
        raise InputError(f"{key}: expected a list of {noun}, got {shown(value)}")
    if isinstance(like, float) and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise InputError(f"{key}: {shown(value)} is too large") from None
    if not right:
        nouns = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
        raise InputError(f"{key}: expected {nouns[type(like)]}, got {shown(value)}")
    return value


def _one_of(key: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(f"{key}: no {shown(value)}{did_you_mean(value, known)}")


def _within(key: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise InputError(f"{key}: expected {least:g} to {most:g}, got {shown(value)}")
