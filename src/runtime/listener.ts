/** The connection of a request. */
export interface Connection {
  /** Must be called before the answer is returned; it costs a system call. */
  address(): string;
  /** `idleMsMax` does not count while it is kept open: for answers that are quiet because of us. */
  keepOpen(isKept: boolean): void;
  /** The listener is stopping: a request sent after this answer would be cut off, so its sender must be told. */
  isLast(): boolean;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly handle: (request: Request, connection: Connection) => Promise<Response>;
  /** Larger than the limits that handlers enforce with a proper answer, because this limit closes the connection without an answer. */
  readonly bodyBytesMax: number;
  readonly idleMsMax: number;
}

export interface Listener {
  readonly port: number;
  /**
   * Accepts no new connections, lets running requests finish for at most `waitMs`, then closes the rest, or leaves that to the end of the process.
   */
  stop(waitMs: number): Promise<void>;
}
