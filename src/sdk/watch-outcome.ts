/** Observes how a call ends. A library's object stays the same: only the method through which its end is learned is replaced, on the object. */

export interface StreamEnd {
  readonly items: number;
  /** The last item, in which a model reports its usage. Undefined if there was no item. */
  readonly lastItem: unknown;
  /** `returned`: the reader stopped before the end. */
  readonly end: "done" | "returned";
}

/** Only its first call counts. */
export interface Watcher {
  done(result: unknown, stream?: StreamEnd): void;
  failed(error: unknown): void;
}

type Method = (...input: unknown[]) => unknown;
type Tell = (value: unknown) => void;

/** Calls the watcher when the call has ended; immediately if the outcome is an object that cannot be changed. The return value is for the caller. */
export const watchOutcome = (outcome: unknown, watcher: Watcher): unknown => {
  const settle = (result: unknown): void => {
    if (!watchIteration(result, watcher)) watcher.done(result);
  };
  // An object that throws when it is inspected goes to the caller as it is.
  const settleQuietly = (result: unknown): void => {
    try {
      settle(result);
    } catch {
      watcher.done(result);
    }
  };
  try {
    if (isThenable(outcome)) return watchPromise(outcome, settleQuietly, watcher.failed);
  } catch {}
  settleQuietly(outcome);
  return outcome;
};

export const isThenable = (value: unknown): value is { readonly then: Method } =>
  methodOf(value, "then") !== undefined;

const methodOf = (value: unknown, name: string | symbol): Method | undefined => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  const method: unknown = Reflect.get(value, name);
  return typeof method === "function" ? (...input) => Reflect.apply(method, value, input) : undefined;
};

/** False if the object cannot be changed. The property is not enumerable, so nobody who copies or compares the object sees it. */
const replace = (object: object, name: string | symbol, value: Method): boolean =>
  Reflect.defineProperty(object, name, { value, configurable: true, writable: true, enumerable: false });

const watchPromise = (promise: { readonly then: Method }, fulfilled: Tell, rejected: Tell): unknown => {
  if (promise instanceof Promise && Object.getPrototypeOf(promise) === Promise.prototype) {
    // Returns the derived promise, not the original: otherwise a rejection that the caller does not handle would count as handled.
    const following = promise.then(
      (value: unknown) => {
        fulfilled(value);
        return value;
      },
      (error: unknown) => {
        rejected(error);
        throw error;
      },
    );
    // Properties that a library added, by name. Symbols do not count: Node 20 keeps the async context of each promise under symbols
    // (AsyncLocalStorage).
    for (const name of Object.getOwnPropertyNames(promise))
      Object.defineProperty(following, name, Object.getOwnPropertyDescriptor(promise, name) ?? {});
    return following;
  }
  // A promise of a library. It may start its work only when `then` is called, and again at each call, as query builders do. So only the caller calls
  // it.
  const original = methodOf(promise, "then");
  const isWatched = replace(promise, "then", (onFulfilled, onRejected) =>
    original?.(
      (value: unknown) => {
        fulfilled(value);
        return typeof onFulfilled === "function" ? Reflect.apply(onFulfilled, undefined, [value]) : value;
      },
      (error: unknown) => {
        rejected(error);
        if (typeof onRejected === "function") return Reflect.apply(onRejected, undefined, [error]);
        throw error;
      },
    ),
  );
  if (!isWatched) fulfilled(promise);
  return promise;
};

/** False if the object is not iterated over asynchronously. */
const watchIteration = (source: unknown, watcher: Watcher): boolean => {
  if (typeof source !== "object" || source === null) return false;
  const iterate = methodOf(source, Symbol.asyncIterator);
  if (!iterate) return false;
  // A generator's `next` may be called without a loop. Other objects have a `next` that means something else, such as database cursors.
  if (Object.prototype.toString.call(source) === "[object AsyncGenerator]")
    return watchSteps(source, source, watcher);
  return replace(source, Symbol.asyncIterator, (...input) => {
    const iterator = iterate(...input);
    const isWatched =
      typeof iterator === "object" && iterator !== null && watchSteps(iterator, source, watcher);
    if (!isWatched) watcher.done(source);
    return iterator;
  });
};

const watchSteps = (iterator: object, source: object, { done, failed }: Watcher): boolean => {
  let items = 0;
  let lastItem: unknown;
  const ended = (end: StreamEnd["end"]): void => done(source, { items, lastItem, end });
  const stepped: Tell = (step) => {
    if (typeof step !== "object" || step === null) return;
    if (Reflect.get(step, "done")) ended("done");
    else [items, lastItem] = [items + 1, Reflect.get(step, "value")];
  };
  const watched =
    (method: Method, fulfilled: Tell): Method =>
    (...input) => {
      try {
        const step = method(...input);
        if (isThenable(step)) return watchPromise(step, fulfilled, failed);
        fulfilled(step);
        return step;
      } catch (error) {
        failed(error);
        throw error;
      }
    };
  // An iterator without `return` does not learn that the reader stopped; with one added, it does.
  const stop = methodOf(iterator, "return") ?? (async (value) => ({ done: true, value }));
  const fail = methodOf(iterator, "throw");
  const next = methodOf(iterator, "next");
  if (fail) replace(iterator, "throw", watched(fail, stepped));
  const stopWatched = watched(stop, () => ended("returned"));
  replace(iterator, "return", stopWatched);
  return next !== undefined && replace(iterator, "next", watched(next, stepped));
};
