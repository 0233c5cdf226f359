/** Takes over the files that dead clients left in a folder. Each file is taken over by renaming it, which only one client can do. */
import { readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { dropLease, isAbandoned, LEASE_SUFFIX, type Lease } from "./lease.ts";
import { EVENTS_SUFFIX, SETTLED_SUFFIX, Segment } from "./segment.ts";

interface Heir {
  readonly directory: string;
  readonly lease: Lease;
  /** Called if a file cannot be read, or if nobody can tell whether its owner is alive. The other files are taken over all the same. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Yields the segments that now belong to the heir: the client with the oldest segment first, and each client's segments oldest first. Segments that
 * another client took meanwhile are not among them.
 */
export async function* adoptSegments(heir: Heir): AsyncGenerator<Segment> {
  const files = filesByOwner(await readdir(heir.directory));
  files.delete(heir.lease.owner);
  // The order in which a folder lists its files is not defined; tmpfs lists the newest first.
  const owners = [...files].map(([owner, theirs]) => ({ owner, theirs, oldest: oldestOf(owner, theirs) }));
  owners.sort((one, other) => (one.oldest < other.oldest ? -1 : Number(one.oldest > other.oldest)));
  for (const { owner, theirs } of owners) if (isDead(heir, owner)) yield* adoptFrom(heir, owner, theirs);
}

/**
 * An id begins with the time at which the file was made, and stays the same when the file is taken over. So a client may own files that are older
 * than itself.
 */
const oldestOf = (owner: string, theirs: ReadonlySet<string>): string => idsOf(owner, theirs)[0] ?? "";

const idsOf = (owner: string, theirs: ReadonlySet<string>): readonly string[] =>
  [...theirs]
    .filter((name) => name.endsWith(EVENTS_SUFFIX))
    .map((name) => name.slice(owner.length + 1, -EVENTS_SUFFIX.length))
    .sort();

/** An owner that cannot be checked now counts as alive until the next look. */
const isDead = ({ directory, lease, onFailure }: Heir, owner: string): boolean => {
  try {
    return isAbandoned(directory, owner, () => lease.isClockSet());
  } catch (error) {
    onFailure(error);
    return false;
  }
};

/** Made once for all owners, because there may be very many: each short-lived program of a machine may have left an event. */
const filesByOwner = (names: readonly string[]): Map<string, Set<string>> => {
  const files = new Map<string, Set<string>>();
  for (const name of names) {
    const owner = ownerOf(name);
    if (owner === undefined) continue;
    const theirs = files.get(owner);
    if (theirs) theirs.add(name);
    else files.set(owner, new Set([name]));
  }
  return files;
};

async function* adoptFrom(heir: Heir, owner: string, theirs: ReadonlySet<string>): AsyncGenerator<Segment> {
  const { directory, onFailure } = heir;
  // The lease goes first: an owner that is alive after all and misses a file can then tell that it was taken over. Files without a lease are free to
  // take.
  dropLease(directory, owner);
  for (const id of idsOf(owner, theirs)) {
    const [from, to] = [join(directory, `${owner}.${id}`), join(directory, `${heir.lease.owner}.${id}`)];
    // The settled file first: if only the other rename succeeded, events that the service already has would be sent again.
    await renamed(from + SETTLED_SUFFIX, to + SETTLED_SUFFIX);
    if (await renamed(from + EVENTS_SUFFIX, to + EVENTS_SUFFIX)) {
      const segment = await readOrGiveBack({ from, to, id, onFailure });
      if (segment) yield segment;
    } else await removed(to + SETTLED_SUFFIX);
  }
  // A settled file without its events file means nothing.
  for (const name of theirs)
    if (name.endsWith(SETTLED_SUFFIX) && !theirs.has(name.replace(SETTLED_SUFFIX, EVENTS_SUFFIX)))
      await removed(join(directory, name));
}

/** A file that cannot be read now, as with too many open files, gets its old name back; the next look takes it over. */
const readOrGiveBack = async (parts: {
  readonly from: string;
  readonly to: string;
  readonly id: string;
  readonly onFailure: Heir["onFailure"];
}): Promise<Segment | undefined> => {
  const { from, to, id, onFailure } = parts;
  try {
    return await Segment.read(to, id);
  } catch (error) {
    await renamed(to + SETTLED_SUFFIX, from + SETTLED_SUFFIX);
    await renamed(to + EVENTS_SUFFIX, from + EVENTS_SUFFIX);
    onFailure(error);
    return undefined;
  }
};

const renamed = (from: string, to: string): Promise<boolean> =>
  rename(from, to).then(
    () => true,
    () => false,
  );

const removed = (path: string): Promise<void> => unlink(path).catch(() => {});

/** `<owner>.<id>.events`, `<owner>.<id>.settled`, `<owner>.lease`. */
const ownerOf = (name: string): string | undefined =>
  [EVENTS_SUFFIX, SETTLED_SUFFIX, LEASE_SUFFIX].some((suffix) => name.endsWith(suffix))
    ? name.split(".")[0]
    : undefined;
