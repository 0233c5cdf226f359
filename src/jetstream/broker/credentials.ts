/** One random password per broker user, made once per data directory so that internal consumers survive a restart. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type BrokerUser, PERMISSIONS } from "../../../streams/permissions.ts";
import { missingAs } from "../../files/durable-file.ts";
import { writePrivateFile } from "./broker-files.ts";

export type BrokerCredentials = Readonly<Record<BrokerUser, string>>;

const PASSWORD_BYTES = 24;

/**
 * The passwords in `path`, or new ones, which are then stored there. Throws CredentialsError if the file cannot be read or was not written
 * by us.
 */
export const loadCredentials = async (path: string): Promise<BrokerCredentials> => {
  const text = await readFile(path, "utf8")
    .catch(missingAs(undefined))
    .catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error);
      throw new CredentialsError(
        `${path} cannot be read: ${detail}. Have it belong to the user that runs the service.`,
      );
    });
  if (text !== undefined) return parseCredentials(text, path);
  const credentials = { service: newPassword(), provisioner: newPassword(), consumer: newPassword() };
  await writePrivateFile(path, `${JSON.stringify(credentials, null, 2)}\n`);
  return credentials;
};

export const brokerUrl = (user: BrokerUser, credentials: BrokerCredentials, port: number): string =>
  `nats://${user}:${credentials[user]}@127.0.0.1:${port}`;

// No character of base64url has a meaning in a URL or in the broker's configuration.
const newPassword = (): string => randomBytes(PASSWORD_BYTES).toString("base64url");

/** The file cannot be read or was not written by us. The message is for the operator. */
export class CredentialsError extends Error {}

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const parseCredentials = (text: string, path: string): BrokerCredentials => {
  const kept = readJson(text);
  const passwordOf = (user: BrokerUser): string => {
    const password: unknown = typeof kept === "object" && kept !== null ? Reflect.get(kept, user) : undefined;
    if (typeof password === "string" && password !== "") return password;
    throw new CredentialsError(
      `${path} has no password for ${user}. Remove the file: new ones are made, and consumer.url changes with them.`,
    );
  };
  const credentials = {
    service: passwordOf("service"),
    provisioner: passwordOf("provisioner"),
    consumer: passwordOf("consumer"),
  };
  // A user added to streams/permissions.ts must be added here too: the compiler checks the type, this the table.
  if (Object.keys(PERMISSIONS).length !== Object.keys(credentials).length)
    throw new Error("a broker user has no password");
  return credentials;
};
