// Solving: a job on the server, watched until it ends, stopped at any time, found again after a reload.

import { Refusal, get, post, remove, watch } from "./api.js";
import { evaluate } from "./geometry.js";
import { toInstance } from "./model.js";
import { featuresOf } from "./rule.js";

const JOB = "covertour-job";

export class Solving {
  constructor(app, on) {
    this.app = app;
    this.on = on;
    this.running = null;
    this.runs = 0;
  }

  /** The methods that can do what the doc asks for. */
  able(doc) {
    const asked = featuresOf(doc);
    return this.app.methods.filter((method) => asked.every((feature) => method.handles.includes(feature)));
  }

  /** The method for what the doc asks: the search, or the proof, or whoever can. */
  method(doc, prove) {
    const asked = featuresOf(doc), able = this.able(doc);
    const wanted = prove ? able.find((method) => method.proves) : able.find((method) => method.name === "lns") ?? able[0];
    if (!wanted) {
      const what = asked.length ? ` with ${asked.join(" and ")}` : "";
      throw new Error(prove ? `This server cannot prove tours${what}.` : `No method of this server can search${what}.`);
    }
    return wanted.name;
  }

  /** Find a tour, or a better one than the present. */
  async start(seconds, prove) {
    if (this.running) return;
    const { doc, plan } = this.app.model;
    const began = performance.now();
    const running = this.running = { doc, began, seconds, prove, address: null, stopping: false, trace: [], bounds: [], controller: new AbortController() };
    this.on.change();
    try {
      const order = { instance: toInstance(doc), method: this.method(doc, prove), stop: { seconds }, seed: this.runs++ };
      if (plan) order.start = plan.stops;
      const job = await post("/v1/jobs", order);
      await this.follow(running, job);
    } catch (error) {
      this.fail(error);
    } finally {
      this.finish(running);
    }
  }

  async follow(running, job) {
    running.address = `/v1/jobs/${job.id}`;
    running.method = job.method;
    localStorage.setItem(JOB, JSON.stringify({ address: running.address, n: running.doc.n, name: running.doc.name, seconds: running.seconds, prove: running.prove }));
    if (running.stopping) remove(running.address).catch(() => {});
    for await (const [name, value] of watch(running.address, running.controller.signal)) {
      if (name === "improvement") this.improved(running, value);
      else if (name === "bound") this.bound(running, value);
      else this.done(running, value);
    }
  }

  improved(running, { seconds, cost, stops }) {
    running.best = { stops, cost, seconds, method: running.method, gap: running.gap ?? null, bound: running.limit ?? null };
    const amount = running.doc.budget === null ? cost : evaluate(running.doc, stops).weight;
    running.trace.push([seconds, amount]);
    this.draw(running);
  }

  bound(running, { seconds, bound, gap }) {
    running.gap = gap;
    running.limit = bound;
    running.bounds.push([seconds, bound]);
    if (running.best) running.best = { ...running.best, gap, bound };
    this.draw(running);
  }

  /** Show the best tour so far, as often as the page can: a large map is not drawn for each. */
  draw(running) {
    if (running.drawing || this.running !== running) return;
    const paint = () => {
      running.drawing = null;
      if (this.running !== running) return;
      const from = performance.now();
      if (running.best) this.on.improved(running);
      running.rest = Math.min(1000, 3 * (performance.now() - from));
    };
    const rest = running.rest ?? 0;
    running.drawing = rest < 60 ? requestAnimationFrame(paint) : setTimeout(paint, rest);
  }

  done(running, job) {
    const { best, result } = job;
    if (best) {
      running.best = { stops: best.stops, cost: best.cost, seconds: best.seconds, method: job.method, gap: result?.gap ?? running.gap ?? null,
        bound: result?.bound ?? running.limit ?? null, total: result?.seconds ?? null, stopped: result?.stopped ?? job.state };
      this.on.improved(running, true);
    }
    if (job.state === "failed") this.fail(new Refusal(job.problem));
    else if (job.state === "interrupted") this.fail(new Error("The server was ended; the best tour so far is kept."));
    else this.on.done(running, job);
  }

  fail(error) {
    if (error.name !== "AbortError") this.app.fail(error);
  }

  finish(running) {
    if (this.running !== running) return;
    this.running = null;
    this.ended = (this.ended ?? 0) + 1;
    document.documentElement.dataset.ended = String(this.ended); // for programs that drive the page
    localStorage.removeItem(JOB);
    this.on.change();
  }

  /** End it and keep the best. */
  stop() {
    const { running } = this;
    if (!running || running.stopping) return;
    running.stopping = true;
    if (running.address) remove(running.address).catch((error) => this.fail(error));
    this.on.change();
  }

  /** The places have changed: what runs is of no use any more. */
  abandon() {
    const { running } = this;
    if (!running) return;
    if (running.address) remove(running.address).catch(() => {});
    running.controller.abort();
    this.finish(running);
  }

  /** Go on watching a job that was begun before the page was loaded. */
  async resume() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(JOB)); } catch { /* not ours */ }
    const { doc } = this.app.model;
    if (!kept || kept.n !== doc.n || kept.name !== doc.name) return;
    const running = this.running = { doc, began: performance.now(), seconds: kept.seconds, prove: kept.prove, stopping: false, trace: [], bounds: [], controller: new AbortController() };
    this.on.change();
    try {
      const job = await get(kept.address);
      if (job.started) running.began -= Math.max(0, Date.now() - Date.parse(job.started));
      await this.follow(running, job);
    } catch (error) {
      if (error.problem?.status !== 404) this.fail(error);
    } finally {
      this.finish(running);
    }
  }
}
