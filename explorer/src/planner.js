// The planner at work beside the page, in a worker of its own for each run, so that the page stays at
// hand and a run that takes too long can be ended. Its script is text in the page (id "worker"): a
// blob is all that the page's policy allows workers to come from.
import { answerOf, listOf, named } from "./replan.js";

export const EFFORT = 400000n; // some tenths of a second where no proof is found before

export class Planner {
  constructor(base64, script) { Object.assign(this, { base64, script, ended: null }); }

  // Throws what the planner says where there is no plan; null if the run was ended before.
  async plan(plan, changes, { effort = EFFORT, onProgress } = {}) {
    this.end();
    const list = listOf(plan, changes, effort), { words, message } = await this.answerTo(list, onProgress);
    if (message) throw new Error(named(plan, message));
    return words ? answerOf(words, plan) : null;
  }

  answerTo(list, onProgress) {
    const url = URL.createObjectURL(new Blob([this.script], { type: "text/javascript" })), worker = new Worker(url);
    return new Promise((answer) => {
      this.ended = () => answer({});
      worker.onmessage = ({ data }) => { if (data.progress) onProgress?.(data.progress); else answer(data); };
      worker.onerror = (event) => answer({ message: event.message || "this browser runs no planner here" });
      worker.postMessage({ base64: this.base64, list }, [list.buffer]);
    }).finally(() => {
      worker.terminate();
      URL.revokeObjectURL(url);
    });
  }

  // Ends the run that is under way, if there is one.
  end() {
    this.ended?.();
    this.ended = null;
  }
}
