/** The holder that a request counts for, where shares are limited: a tenant, or a client where no key is needed. */
import type { Principal } from "../../access/authenticate.ts";
import { holderOf } from "../../access/client.ts";

export interface Asker {
  readonly principal: Pick<Principal, "tenant"> | undefined;
  /** Call it before the answer is sent. */
  readonly clientAddress: () => string;
}

export const holderOfRequest = ({ principal, clientAddress }: Asker): string =>
  principal?.tenant ?? holderOf(clientAddress());
