/** The page that verifies: at /verify, and as verify.html in every bundle. One script, which runs as the page and in its worker. */
import { printable } from "../../runtime/printable.ts";
import { sizeText } from "../../runtime/size-text.ts";
import { byId, element } from "./elements.ts";
import type { Progress } from "./judge.ts";
import { createVerdictView } from "./verdict-view.ts";
import { answerQuestion, createVerifierWorker } from "./verifier-worker.ts";
import { ENGLISH, KOREAN, KOREAN_PAGE, type Said } from "./words.ts";

/** The page in the reader's language; `?lang=` decides before the browser does. */
const translate = (): Said => {
  const asked = new URLSearchParams(location.search).get("lang") ?? navigator.language;
  if (!asked.toLowerCase().startsWith("ko")) return ENGLISH;
  document.documentElement.lang = "ko";
  for (const part of document.querySelectorAll<HTMLElement>("[data-word]"))
    part.textContent = KOREAN_PAGE[part.dataset.word ?? ""] ?? part.textContent;
  const link = byId("language", HTMLAnchorElement);
  link.replaceChildren("English");
  for (const name of ["lang", "hreflang"]) link.setAttribute(name, "en");
  link.setAttribute("href", "?lang=en");
  return KOREAN;
};

/** Progress bar and buttons, as they are while something is read and otherwise. */
const createWorking = (words: Said) => {
  const bar = byId("progress", HTMLProgressElement);
  const reading = byId("reading", HTMLElement);
  const verify = byId("verify", HTMLButtonElement);
  const cancel = byId("cancel", HTMLButtonElement);
  const area = byId("working", HTMLElement);
  return {
    begin: (): void => {
      bar.removeAttribute("value");
      reading.replaceChildren(words.starting);
      [area.hidden, cancel.hidden, verify.hidden] = [false, false, true];
    },
    progress: ({ file, bytes, share }: Progress): void => {
      bar.value = share;
      reading.replaceChildren(words.reading(file, sizeText(bytes)));
    },
    end: (): void => {
      [area.hidden, cancel.hidden, verify.hidden] = [true, true, false];
    },
  };
};

const isZip = ({ name }: File): boolean => /\.zip$/i.test(name);

/** The files that were given so far: another bundle, or a file of the same name, takes the place of the one before. */
const withAdded = (files: readonly File[], added: readonly File[]): readonly File[] => [
  ...files.filter(
    (file) => !added.some(({ name }) => name === file.name) && !(isZip(file) && added.some(isZip)),
  ),
  ...added,
];

const onFiles = (take: (files: readonly File[]) => void): void => {
  const input = byId("files", HTMLInputElement);
  const drop = byId("drop", HTMLElement);
  input.addEventListener("change", () => {
    take([...(input.files ?? [])]);
    // So that the same file can be picked again.
    input.value = "";
  });
  // Anywhere on the page: a browser opens a file that is dropped beside.
  for (const name of ["dragover", "dragleave", "drop"])
    addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (event instanceof DragEvent && name === "drop") take([...(event.dataTransfer?.files ?? [])]);
    });
};

const show = (script: string): void => {
  const words = translate();
  byId("from_disk", HTMLElement).hidden = location.protocol !== "file:";
  const view = createVerdictView(words);
  const working = createWorking(words);
  const clear = byId("clear", HTMLButtonElement);
  let files: readonly File[] = [];
  const worker = createVerifierWorker(script, {
    progress: working.progress,
    judged: (judged) => {
      working.end();
      view.show(judged);
    },
    failed: (detail) => {
      working.end();
      view.undecided(files[0]?.name ?? "", detail);
    },
  });
  const start = (): void => {
    view.clear();
    if (files.length === 0) {
      view.say(words.nothing);
      return;
    }
    const keys = byId("keys", HTMLTextAreaElement).value;
    const tenant = byId("tenant", HTMLInputElement).value;
    worker.ask({ files, keys, tenant });
    working.begin();
  };
  const useFiles = (next: readonly File[]): void => {
    files = next;
    byId("given", HTMLElement).replaceChildren(
      ...files.map(({ name, size }) => element("li", {}, `${printable(name)}, ${sizeText(size)}`)),
    );
    clear.hidden = files.length === 0;
  };
  const stop = (): void => {
    worker.stop();
    working.end();
    view.clear();
  };
  onFiles((added) => {
    if (added.length === 0) return;
    useFiles(withAdded(files, added));
    start();
  });
  // A verdict is about the keys and the tenant with which it was asked for.
  byId("form", HTMLFormElement).addEventListener("input", view.clear);
  byId("form", HTMLFormElement).addEventListener("submit", (submission) => {
    submission.preventDefault();
    start();
  });
  byId("cancel", HTMLButtonElement).addEventListener("click", () => {
    stop();
    view.say(words.cancelled);
    byId("verify", HTMLButtonElement).focus();
  });
  clear.addEventListener("click", () => {
    stop();
    useFiles([]);
    byId("files", HTMLInputElement).focus();
  });
};

if (typeof document === "undefined") answerQuestion();
else show(document.currentScript?.textContent ?? "");
