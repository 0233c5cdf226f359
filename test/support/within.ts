/** Waits for a promise for a limited time. The error names what never came. */
import { WAIT_MS_MAX } from "./time-limits.ts";

export const within = async <Value>(
  what: string,
  promise: Promise<Value>,
  msMax = WAIT_MS_MAX,
): Promise<Value> => {
  const late = Promise.withResolvers<never>();
  const tooLate = new Error(`waited ${msMax} ms in vain until ${what}`);
  const timer = setTimeout(() => late.reject(tooLate), msMax);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
