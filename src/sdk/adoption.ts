/** Taking over what dead clients have left in a folder: their files are renamed, which only one can do. */
import { readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { dropLease, isAbandoned, LEASE_SUFFIX, type Lease } from "./lease.ts";
import { EVENTS_SUFFIX, SETTLED_SUFFIX, Segment } from "./segment.ts";

interface Heir {
  readonly directory: string;
  readonly lease: Lease;
  /** A file cannot be read, or a holder not asked about; the others are taken over all the same. */
  readonly onFailure: (error: unknown) => void;
}

/** Segments that are the heir's from now on: client by client, who has the oldest first, and so are those of each. What another took meanwhile is not among them. */
export async function* adoptSegments(heir: Heir): AsyncGenerator<Segment> {
  const files = filesByOwner(await readdir(heir.directory));
  files.delete(heir.lease.owner);
  // A folder lists them as it likes, the newest first on tmpfs.
  const owners = [...files].map(([owner, theirs]) => ({ owner, theirs, oldest: oldestOf(owner, theirs) }));
  owners.sort((one, other) => (one.oldest < other.oldest ? -1 : Number(one.oldest > other.oldest)));
  for (const { owner, theirs } of owners) if (isDead(heir, owner)) yield* adoptFrom(heir, owner, theirs);
}

/** Ids begin with the time that their file was made at, and stay when it is taken over: a client that was closed amid that has older files than those it left. */
const oldestOf = (owner: string, theirs: ReadonlySet<string>): string => idsOf(owner, theirs)[0] ?? "";

const idsOf = (owner: string, theirs: ReadonlySet<string>): readonly string[] =>
  [...theirs]
    .filter((name) => name.endsWith(EVENTS_SUFFIX))
    .map((name) => name.slice(owner.length + 1, -EVENTS_SUFFIX.length))
    .sort();

/** Who cannot be asked about now counts as alive until the next look. */
const isDead = ({ directory, lease, onFailure }: Heir, owner: string): boolean => {
  try {
    return isAbandoned(directory, owner, () => lease.isClockSet());
  } catch (error) {
    onFailure(error);
    return false;
  }
};

/** Once for all owners: there may be very many, where each of a machine's short-lived programs left an event. */
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
  // First of all, so that a holder who lives and misses a file can tell that it was taken over. Files without a lease are anybody's.
  dropLease(directory, owner);
  for (const id of idsOf(owner, theirs)) {
    const [from, to] = [join(directory, `${owner}.${id}`), join(directory, `${heir.lease.owner}.${id}`)];
    // First what is settled: where only that succeeds, events are sent again that are known to the service.
    await renamed(from + SETTLED_SUFFIX, to + SETTLED_SUFFIX);
    if (await renamed(from + EVENTS_SUFFIX, to + EVENTS_SUFFIX)) {
      const segment = await readOrGiveBack({ from, to, id, onFailure });
      if (segment) yield segment;
    } else await removed(to + SETTLED_SUFFIX);
  }
  // Without events beside it, it says nothing.
  for (const name of theirs)
    if (name.endsWith(SETTLED_SUFFIX) && !theirs.has(name.replace(SETTLED_SUFFIX, EVENTS_SUFFIX)))
      await removed(join(directory, name));
}

/** What cannot be read now, as with too many open files, goes back to the dead: the next look takes it over. */
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
