/** What was asked cannot be done with these settings, this machine or this broker. The message is for the operator, and says what to do. */
export class RefusedError extends Error {
  override readonly name: string = "RefusedError";
  /** Waiting cannot help. */
  readonly isFinal: boolean;
  constructor(message: string, { isFinal = true }: { readonly isFinal?: boolean } = {}) {
    super(message);
    this.isFinal = isFinal;
  }
}
