"""What a column holds, by its title: in English, French, Spanish, Portuguese and German, or HXL."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence

from covertour.problem.errors import InputError, did_you_mean, shown

Note = Callable[[str, bool], None]
"""Is told about something in a file that is not used, and whether that looks like a mistake."""

COLUMNS = {
    "x": ("x", "easting", "x_coord", "xcoord", "coord_x"),
    "y": ("y", "northing", "y_coord", "ycoord", "coord_y"),
    "latitude": (
        *("latitude", "lat", "lat_dd", "latitude_dd", "lat_deg", "stop_lat", "gps_latitude"),
        *("lat_wgs84", "latitude_wgs84", "decimal_latitude", "decimallatitude", "gps_lat"),
    ),
    "longitude": (
        *("longitude", "lon", "lng", "long", "lon_dd", "long_dd", "longitude_dd"),
        *("lon_deg", "long_deg", "stop_lon", "gps_longitude", "gps_lon", "gps_long", "gps_lng"),
        *("lon_wgs84", "longitude_wgs84", "decimal_longitude", "decimallongitude"),
    ),
    "name": (*("name", "label", "place", "village", "city", "town", "stop_name"),),
    "radius": ("radius", "radius_km", "radius_m", "radius_mi", "r"),
    "nearest": ("nearest", "k"),
    "covers": ("covers",),
    "required": ("required", "must_visit"),
    "forbidden": ("forbidden", "avoid"),
    "depot": ("depot", "start"),
    "end": ("end", "finish"),
    "stop": ("stop", "can_stop", "may_stop"),
    "weight": ("weight", "population", "people", "pop", "inhabitants"),
    "demand": ("demand",),
    "visit_cost": ("visit_cost", "stop_cost"),
    "metric": ("metric",),
}
"""What a column holds, and the titles it may have, in lower case, best first."""

IN_OTHER_LANGUAGES = {
    "x": ("coordonnee_x", "coordenada_x", "x_koordinate", "rechtswert"),
    "y": ("coordonnee_y", "coordenada_y", "y_koordinate", "hochwert"),
    "latitude": (
        *("latitud", "latitude_nord", "breite", "breitengrad", "geographische_breite"),
        *("geogr_breite", "geo_breite", "latitude_gps", "latitud_gps"),
    ),
    "longitude": (
        *("longitud", "longitude_est", "lange", "laenge", "langengrad", "laengengrad"),
        *("geographische_lange", "geographische_laenge", "geogr_lange", "geo_lange"),
        *("longitude_gps", "longitud_gps"),
    ),
    "name": (
        *("nom", "nombre", "nome", "ortsname", "bezeichnung", "libelle", "nom_du_village"),
        *("nom_village", "nom_localite", "localite", "localidad", "localidade", "ort", "dorf"),
        *("ortschaft", "lieu", "lugar", "aldea", "aldeia", "pueblo", "povoado", "poblado"),
        *("comunidad", "comunidade", "ville", "ciudad", "cidade", "stadt", "commune"),
        *("municipio", "gemeinde", "place_name", "village_name", "site_name", "location_name"),
        *("facility_name", "settlement", "community", "facility", "site", "location"),
        *("id",),
    ),
    "radius": (
        *("rayon", "rayon_km", "rayon_m", "radio_km", "radio_m", "raio", "raio_km", "raio_m"),
        *("umkreis", "umkreis_km", "umkreis_m"),
    ),
    "required": (
        *("obligatoire", "requis", "a_visiter", "obligatorio", "obligatoria", "requerido"),
        *("requerida", "obrigatorio", "obrigatoria", "pflicht", "erforderlich", "pflichthalt"),
    ),
    "forbidden": (
        *("interdit", "interdite", "a_eviter", "eviter", "prohibido", "prohibida", "evitar"),
        *("proibido", "proibida", "verboten", "meiden", "gesperrt"),
    ),
    "weight": (
        *("pop_total", "total_population", "population_totale", "nb_habitants", "habitants"),
        *("poblacion", "poblacion_total", "habitantes", "populacao", "populacao_total"),
        *("einwohner", "einwohnerzahl", "bevolkerung", "bevoelkerung", "poids", "peso", "gewicht"),
    ),
    "stop": ("arret_possible", "parada_posible", "paragem_possivel", "halt_moglich"),
    "visit_cost": ("cout_visite", "cout_de_visite", "costo_visita", "custo_visita"),
    "depot": ("depart", "deposito", "inicio", "partida", "salida", "startpunkt", "startort"),
}
"""The same without accents, as :func:`plain` leaves them."""

PAIRS = (
    *("lat_lon", "latlon", "lat_lng", "latlng", "lat_long", "latlong", "latitude_longitude"),
    *("coordinates", "coordinate", "coords", "coord", "gps", "gps_coordinates", "gps_location"),
    *("location", "geolocation", "position", "geopoint", "geo_point", "geo_point_2d", "point"),
    *("wkt", "geom", "the_geom", "geometry", "coordonnees", "coordonnees_gps", "coordenadas"),
    *("coordenadas_gps", "ubicacion", "localizacion", "localizacao", "latitude_et_longitude"),
    *("latitud_longitud", "koordinaten", "gps_koordinaten", "standort", "breite_lange"),
)
LONGITUDE_FIRST = ("lon_lat", "lonlat", "lng_lat", "lnglat", "long_lat", "longitude_latitude")
"""Titles of one column with latitude and longitude, and with longitude and latitude."""

HXL = {
    "latitude": (("#geo", "lat"), ("#geo", "latitude")),
    "longitude": (("#geo", "lon"), ("#geo", "lng"), ("#geo", "longitude")),
    "pair": (("#geo", "coord"), ("#geo", "coords")),
    "name": (
        *(("#loc", "name"), ("#adm5", "name"), ("#adm4", "name"), ("#adm3", "name")),
        *(("#loc", ""), ("#adm2", "name"), ("#adm1", "name")),
    ),
    "weight": (("#population", "total"), ("#population", ""), ("#affected", "")),
}
"""Tags of the Humanitarian Exchange Language, and the attribute that they must have, best first."""

QUALIFIED = re.compile(
    "(_(decimal|degrees?|deg|dd|wgs_?84|epsg_4326|decimal_degrees|degres|decimaux|decimale|grados|"
    "decimales|graus|decimais|grad|dezimal))+$"
)
"""What people write after latitude and longitude, and may be left out."""

HXL_TAG = re.compile(r"\s*#[A-Za-z][A-Za-z0-9_]*(\s*\+\s*[A-Za-z][A-Za-z0-9_]*)*\s*")

MOST_UNUSED = 6
"""How many unused columns a note names."""

TITLES = {role: (*titles, *IN_OTHER_LANGUAGES.get(role, ())) for role, titles in COLUMNS.items()}
KNOWN = {title for titles in TITLES.values() for title in titles}

GERMAN = {
    *("breite", "breitengrad", "lange", "laenge", "langengrad", "laengengrad", "ort", "dorf"),
    *("ortsname", "bezeichnung", "ortschaft", "stadt", "gemeinde", "koordinaten", "standort"),
    *("einwohner", "bevolkerung", "umkreis", "pflicht", "geographische_lange", "geo_lange"),
}
ROMANCE = {
    *("latitud", "longitud", "nom", "nombre", "nome", "libelle", "localite", "localidad", "lieu"),
    *("localidade", "lugar", "aldea", "aldeia", "pueblo", "povoado", "ville", "ciudad", "cidade"),
    *("commune", "municipio", "coordonnees", "coordenadas", "habitants", "habitantes", "rayon"),
    *("comunidad", "comunidade", "poblacion", "populacao", "obligatoire", "obligatorio"),
}
"""Titles that tell the language of a table: O is east in German, west in the others."""

COORDINATES = ("x", "y", "latitude", "longitude", "metric")
"""What columns do not say where points have places already."""

MAY_BE_SEVERAL = ("name", "weight")
"""What several columns may hold under different titles; the best one is taken."""


def plain(title: str) -> str:
    """A title as the tables above have it: lower case without accents, words joined by underscores.

    >>> plain(" Größe (km) "), plain("Latitude (°)"), plain("_GPS_latitude")
    ('grosse_km', 'latitude', 'gps_latitude')
    """
    letters = unicodedata.normalize("NFKD", title.casefold())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    word = re.sub(r"[\W_]+", "_", bare).strip("_")
    return QUALIFIED.sub("", word) if word not in KNOWN else word


def find_columns(
    header: Sequence[str], where: str, without_coordinates: bool = False
) -> dict[str, int]:
    """Which columns hold what: from the keys of :data:`COLUMNS` to positions in the header.

    A column with latitude and longitude in it is the role ``pair``, or ``pair, longitude first``.
    """
    words = [plain(title) for title in header]
    found = {}
    for role, titles in TITLES.items():
        if without_coordinates and role in COORDINATES:
            continue
        matches = sorted(
            (titles.index(word), position) for position, word in enumerate(words) if word in titles
        )
        if not matches:
            continue
        if len(matches) > 1 and (role not in MAY_BE_SEVERAL or matches[0][0] == matches[1][0]):
            both = " and ".join(shown(header[position]) for _, position in matches[:2])
            raise InputError(f"{where}: the columns {both} both give the {role}")
        found[role] = matches[0][1]
    if without_coordinates:
        return found
    for role, titles in (("pair", PAIRS), ("pair, longitude first", LONGITUDE_FIRST)):
        at = next((position for position, word in enumerate(words) if word in titles), None)
        if at is not None:
            found[role] = at
    return found


def names_coordinates(header: Sequence[str]) -> bool:
    """Whether titles name a latitude and a longitude, x and y, or both in one column."""
    words = {plain(title) for title in header}
    return any(
        not words.isdisjoint(TITLES[one]) and not words.isdisjoint(TITLES[other])
        for one, other in (("latitude", "longitude"), ("x", "y"))
    ) or not words.isdisjoint((*PAIRS, *LONGITUDE_FIRST))


def sign_of_o(header: Sequence[str]) -> float | None:
    """Whether a longitude with O is east or west in the language of a header; None if unclear."""
    words = {plain(title) for title in header}
    german, romance = bool(words & GERMAN), bool(words & ROMANCE)
    return None if german == romance else 1.0 if german else -1.0


def may_be_carried(title: str, beside: Collection[str]) -> bool:
    """Whether a column may stand ``beside`` those that are used and is not taken for one of them.

    A second name, or a second count of people, may where there is a better one.
    """
    word = plain(title)
    if not word or HXL_TAG.fullmatch(title):
        return False
    role = next((role for role, titles in TITLES.items() if word in titles), None)
    return role is None or (role in MAY_BE_SEVERAL and TITLES[role][0] in beside)


def is_hxl(row: Sequence[str]) -> bool:
    """Whether a row holds HXL tags: at least one, and nothing else."""
    cells = [cell for cell in row if cell.strip()]
    return bool(cells) and all(map(HXL_TAG.fullmatch, cells))


def find_tagged(tags: Sequence[str]) -> dict[str, int]:
    """Which columns hold what, by their HXL tags."""
    found = {}
    split = [[part.strip().lower() for part in tag.split("+")] for tag in tags]
    for role, wanted in HXL.items():
        for tag, attribute in wanted:
            fits = [
                position
                for position, (first, *attributes) in enumerate(split)
                if first == tag and (not attribute or attribute in attributes)
            ]
            if fits:
                found[role] = fits[0]
                break
    return found


def tell_of_unused(
    header: Sequence[str],
    used: Collection[int],
    where: str,
    note: Note,
    one: str = "column",
    many: str = "columns",
) -> None:
    """Tell which columns hold nothing that is known, and what they may be meant to be.

    ``used``: positions of columns that are, whatever their titles say.
    """
    words = [plain(title) for title in header]
    # A title whose meaning is there already, under its right name, is hardly that name misspelt.
    missing = [
        titles for role, titles in COLUMNS.items() if set(words).isdisjoint(TITLES[role])
    ]  # fmt: skip
    likely = [title for titles in missing for title in titles if len(title) > 3]
    unused = []
    for position, (title, word) in enumerate(zip(header, words, strict=True)):
        if word in KNOWN or position in used or not word:
            continue
        # Words of other languages are rather alike, mistakes in typing are very much so.
        hint = did_you_mean(word, likely, list_all=False, alike=0.75)
        if hint:
            note(f"{where}: the {one} {shown(title)} is not used{hint}", True)
        else:
            unused.append(shown(title))
    if unused:
        more = f" and {len(unused) - MOST_UNUSED} more" if len(unused) > MOST_UNUSED else ""
        names = f"{', '.join(unused[:MOST_UNUSED])}{more}"
        note(f"{where}: {many} that are not used: {names}", False)
