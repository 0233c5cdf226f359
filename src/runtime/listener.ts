/** What a request came over. */
export interface Connection {
  /** To be asked before the answer is given; it costs a system call. */
  address(): string;
  /** While it is kept open `idleMsMax` does not count: for the times when it is quiet because of us. */
  keepOpen(isKept: boolean): void;
  /** The listener is stopping: what is sent behind this answer would be cut off, so its sender has to be told. */
  isLast(): boolean;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly handle: (request: Request, connection: Connection) => Promise<Response>;
  /** Above the limits that handlers enforce with a proper answer: this one closes without a word. */
  readonly bodyBytesMax: number;
  readonly idleMsMax: number;
}

export interface Listener {
  readonly port: number;
  /** Takes no new connections, lets running requests finish for at most `waitMs`, then closes what is left, or leaves that to the end of the process. */
  stop(waitMs: number): Promise<void>;
}
