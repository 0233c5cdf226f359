/** Finds the address of the service and the key for it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Input } from "./command.ts";
import type { Context } from "./context.ts";
import { failure, reasonOf } from "./failure.ts";

export interface ServiceAddress {
  readonly url: string;
  readonly isLoopback: boolean;
  readonly source: string;
}

export interface ServiceKey {
  readonly text: string;
  /** Where the key was given, for messages: never the key itself. */
  readonly source: string;
}

type Environment = Context["environment"];

export const readAddress = (input: Input, environment: Environment): ServiceAddress => {
  const [text, source] = givenAddress(input, environment);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && url.search + url.hash === "";
  if (!isPlain || url.username + url.password !== "")
    throw failure(
      "wrong_use",
      `The address from ${source} must be like http://127.0.0.1:8080 or https://audit.example.com: http or https, without user name, query or fragment.`,
    );
  return {
    // The SDK reads the same variable in the same way.
    url: `${url.origin}${url.pathname.replace(/\/+(v1\/*)?$/, "")}`,
    isLoopback: /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname),
    source,
  };
};

const givenAddress = (input: Input, { PROOFTRAIL_URL = "", PORT = "" }: Environment) => {
  const given = input.text("--url");
  if (given !== undefined) return [given, "--url"] as const;
  if (PROOFTRAIL_URL !== "") return [PROOFTRAIL_URL, "PROOFTRAIL_URL"] as const;
  // A service on this machine gets its port from the same environment.
  const port = /^[1-9]\d{0,4}$/.test(PORT) ? PORT : "8080";
  return [`http://127.0.0.1:${port}`, "the default"] as const;
};

/** Undefined if there is no key; some commands need none. */
export const findKey = async (
  input: Input,
  environment: Environment,
  { isLoopback }: ServiceAddress,
): Promise<ServiceKey | undefined> => {
  const { PROOFTRAIL_API_KEY = "" } = environment;
  const file = input.text("--key-file");
  if (file !== undefined)
    return checked(
      await readFile(file, "utf8").catch((error: unknown) => {
        throw failure("unreadable_file", `The key file ${file} cannot be read: ${reasonOf(error)}.`);
      }),
      `the file ${file}`,
    );
  if (PROOFTRAIL_API_KEY !== "") return checked(PROOFTRAIL_API_KEY, "PROOFTRAIL_API_KEY");
  if (!isLoopback) return undefined;
  const path = adminKeyPath(environment);
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text === undefined ? undefined : checked(text, `the file ${path}`);
};

export const needKey = async (
  input: Input,
  environment: Environment,
  address: ServiceAddress,
): Promise<ServiceKey> => {
  const key = await findKey(input, environment, address);
  if (key) return key;
  const path = adminKeyPath(environment);
  const looked = address.isLoopback
    ? await readFile(path).then(
        () => "",
        (error: unknown) => `${path} cannot be read: ${reasonOf(error)}.`,
      )
    : `A key from DATA_DIR is used for this machine only, and ${address.url} is another.`;
  throw failure(
    "no_key",
    `Neither --key-file nor PROOFTRAIL_API_KEY names one. ${looked}`,
    "Set PROOFTRAIL_API_KEY, or name a file that holds the key with --key-file.",
  );
};

const adminKeyPath = ({ DATA_DIR }: Environment): string => join(DATA_DIR ?? "./data", "admin.key");

/** A header value must be visible ASCII; other bytes mean that it is probably the wrong file. */
const checked = (text: string, source: string): ServiceKey => {
  const key = text.trim();
  if (!/^[!-~]{1,512}$/.test(key))
    throw failure("unreadable_file", `What ${source} holds is no API key: one word of visible characters.`);
  return { text: key, source };
};
