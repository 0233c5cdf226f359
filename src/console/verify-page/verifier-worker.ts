/** The verifier in a worker of its own, so that the page stays usable while 200 MB are read, and reading can be ended. */
import { messageOf } from "../../runtime/error-text.ts";
import { type Judged, judge, type Progress, type Question } from "./judge.ts";

export interface PickedFiles extends Omit<Question, "files"> {
  readonly files: readonly File[];
}

type ToWorker =
  | {
      readonly kind: "question";
      readonly question: Omit<Question, "files">;
      readonly files: readonly { readonly name: string; readonly size: number }[];
    }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "unreadable"; readonly detail: string };

type FromWorker =
  | { readonly kind: "read"; readonly file: number; readonly from: number; readonly to: number }
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "judged"; readonly judged: Judged }
  | { readonly kind: "failed"; readonly detail: string };

const PROGRESS_MS = 100;

/** The worker's side. It answers one question, and has the page read: WebKit lets no worker of a page on disk read a file. */
export const answerQuestion = (): void => {
  const say = (message: FromWorker): void => postMessage(message);
  /** In the order in which they were asked for, which is that of the answers. */
  const reads: PromiseWithResolvers<Uint8Array>[] = [];
  const read = (file: number, from: number, to: number): Promise<Uint8Array> => {
    const answer = Promise.withResolvers<Uint8Array>();
    reads.push(answer);
    say({ kind: "read", file, from, to });
    return answer.promise;
  };
  let saidAt = 0;
  const report = (progress: Progress): void => {
    const now = performance.now();
    if (now < saidAt + PROGRESS_MS) return;
    saidAt = now;
    say({ kind: "progress", progress });
  };
  addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
    if (data.kind === "bytes") return reads.shift()?.resolve(data.bytes);
    if (data.kind === "unreadable") return reads.shift()?.reject(new Error(data.detail));
    const files = data.files.map((file, index) => ({
      ...file,
      read: (from: number, to: number) => read(index, from, to),
    }));
    judge({ ...data.question, files }, report).then(
      (judged) => say({ kind: "judged", judged }),
      (error: unknown) => say({ kind: "failed", detail: messageOf(error) }),
    );
  });
};

export interface VerifierWorker {
  /** Ends what was asked before. */
  ask(question: PickedFiles): void;
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
    ask: ({ files, ...question }) => {
      stop();
      const worker = new Worker(url);
      current = worker;
      const say = (message: ToWorker, transfer: Transferable[] = []): void =>
        worker.postMessage(message, transfer);
      const answerRead = createReader(files, say);
      worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
        if (worker !== current) return;
        if (data.kind === "read") return answerRead(data);
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
      say({ kind: "question", question, files: files.map(({ name, size }) => ({ name, size })) });
    },
  };
};

/** Reads what the worker asks for, one piece after the other. */
const createReader = (
  files: readonly File[],
  say: (message: ToWorker, transfer?: Transferable[]) => void,
): ((asked: Extract<FromWorker, { readonly kind: "read" }>) => void) => {
  let before: Promise<void> = Promise.resolve();
  return ({ file, from, to }) => {
    before = before.then(async () => {
      try {
        const bytes = new Uint8Array(
          (await files[file]?.slice(from, to).arrayBuffer()) ?? new ArrayBuffer(0),
        );
        say({ kind: "bytes", bytes }, [bytes.buffer]);
      } catch (error) {
        say({ kind: "unreadable", detail: `${files[file]?.name} cannot be read: ${messageOf(error)}` });
      }
    });
  };
};
