/** Waits for a promise for a limited time. The error names what never came. */
export const within = async <Value>(
  timeoutMs: number,
  what: string,
  promise: Promise<Value>,
): Promise<Value> => {
  const late = Promise.withResolvers<never>();
  const tooLate = new Error(`waited ${timeoutMs} ms in vain until ${what}`);
  const timer = setTimeout(() => late.reject(tooLate), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
