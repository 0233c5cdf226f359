/** The code of an error of the system, such as ENOENT; undefined for any other. Test runners have an `Error` of their own (`node:vm`), which the system's is not. */
export const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
