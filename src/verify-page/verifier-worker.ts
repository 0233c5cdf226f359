/** The verifier in a worker of its own, so that the page stays usable while 200 MB are read, and reading can be ended. */
import { type Judged, judge, type Progress, type Question } from "./judge.ts";

type Message =
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "judged"; readonly judged: Judged }
  | { readonly kind: "failed"; readonly detail: string };

const PROGRESS_MS = 100;

/** The worker's side. */
export const answerQuestions = (): void => {
  const say = (message: Message): void => postMessage(message);
  addEventListener("message", async ({ data }: MessageEvent<Question>) => {
    let saidAt = 0;
    const report = (progress: Progress): void => {
      const now = performance.now();
      if (now < saidAt + PROGRESS_MS) return;
      saidAt = now;
      say({ kind: "progress", progress });
    };
    try {
      say({ kind: "judged", judged: await judge(data, report) });
    } catch (error) {
      say({ kind: "failed", detail: error instanceof Error ? error.message : String(error) });
    }
  });
};

export interface VerifierWorker {
  /** Ends what was asked before. */
  ask(question: Question): void;
  stop(): void;
}

/** The page's side. `script` is what the worker runs: the page's own script, because a file on disk may load no other. */
export const createVerifierWorker = (
  script: string,
  on: {
    progress(progress: Progress): void;
    judged(judged: Judged): void;
    failed(detail: string): void;
  },
): VerifierWorker => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  let current: Worker | undefined;
  const stop = (): void => {
    current?.terminate();
    current = undefined;
  };
  return {
    stop,
    ask: (question) => {
      stop();
      const worker = new Worker(url);
      current = worker;
      worker.addEventListener("message", ({ data }: MessageEvent<Message>) => {
        if (worker !== current) return;
        if (data.kind === "progress") return on.progress(data.progress);
        stop();
        if (data.kind === "judged") on.judged(data.judged);
        else on.failed(data.detail);
      });
      worker.addEventListener("error", ({ message }) => {
        if (worker !== current) return;
        stop();
        on.failed(message);
      });
      worker.postMessage(question);
    },
  };
};
