import type { ViewDefinition } from "../../src/views/store/view-store.ts";
import type { ViewDatabase } from "./view-store.ts";

/** A database with the view open in one store. */
export const openView = async (create: () => Promise<ViewDatabase> | ViewDatabase, view: ViewDefinition) => {
  const made = await create();
  const store = made.connect();
  await store.open(view);
  return {
    store,
    another: made.connect,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await made[Symbol.asyncDispose]();
    },
  };
};
