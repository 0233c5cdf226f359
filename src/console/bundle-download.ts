/** Making a bundle: it goes on while the reader looks at other screens. */
import { signal } from "@preact/signals";
import { apiAddress, type Parameters } from "./address.ts";
import { type Failure, problemOf } from "./api.ts";
import { signedOut } from "./session.ts";

export type Download =
  | { readonly kind: "idle" }
  /** The service waits until everything is sealed, and collects. */
  | { readonly kind: "waiting" }
  | { readonly kind: "receiving"; readonly bytes: number }
  | { readonly kind: "received"; readonly bytes: number; readonly name: string }
  | { readonly kind: "broken"; readonly bytes: number }
  | Failure;

export const download = signal<Download>({ kind: "idle" });

export const isRunning = (): boolean =>
  download.value.kind === "waiting" || download.value.kind === "receiving";

let running: AbortController | undefined;

export const cancelDownload = (): void => running?.abort();

export const makeBundle = async (parameters: Parameters): Promise<void> => {
  const controller = new AbortController();
  running = controller;
  let bytes = 0;
  download.value = { kind: "waiting" };
  const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, stream) => {
      bytes += chunk.byteLength;
      download.value = { kind: "receiving", bytes };
      stream.enqueue(chunk);
    },
  });
  try {
    const response = await fetch(apiAddress("v1/evidence", parameters), { signal: controller.signal });
    if (response.status === 401) signedOut();
    if (!response.ok || response.body === null) {
      download.value = await problemOf(response);
      return;
    }
    // Rejects where the connection breaks: a part of a bundle is never saved.
    const file = await new Response(response.body.pipeThrough(count)).blob();
    const name = nameIn(response);
    save(file, name);
    download.value = { kind: "received", bytes, name };
  } catch {
    download.value = controller.signal.aborted ? { kind: "idle" } : { kind: "broken", bytes };
  }
};

const nameIn = ({ headers }: Response): string =>
  /filename="([^"]+)"/.exec(headers.get("content-disposition") ?? "")?.[1] ?? "evidence.zip";

const save = (file: Blob, name: string): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // Only after the browser has taken it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
