export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** `socketAddress` is to be asked before the answer is given; it costs a system call. */
  readonly handle: (request: Request, socketAddress: () => string) => Promise<Response>;
  /** Above the limits that handlers enforce with a proper answer: this one closes without a word. */
  readonly bodyBytesMax: number;
  readonly idleMsMax: number;
}

export interface Listener {
  readonly port: number;
  /** Takes no new connections, lets running requests finish for at most `waitMs`, then closes what is left, or leaves that to the end of the process. */
  stop(waitMs: number): Promise<void>;
}
