/** The first step of every command that asks the service. */
import { type Api, createApi } from "./api.ts";
import type { Input } from "./command.ts";
import type { Context } from "./context.ts";
import { needKey, readAddress } from "./service-address.ts";

/** Throws a Failure if there is no key. */
export const openApi = async (input: Input, { environment }: Context): Promise<Api> => {
  const address = readAddress(input, environment);
  return createApi(address, await needKey(input, environment, address));
};
