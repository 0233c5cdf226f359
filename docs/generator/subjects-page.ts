import { PERMISSIONS } from "../../streams/permissions.ts";
import { type StreamSettings, topology } from "../../streams/topology.ts";
import { code, codes, page, prose, table } from "./markdown.ts";
import { durationText, sizeText } from "./units.ts";

const keptText = ({ storage, max_age, max_bytes, max_msgs_per_subject }: StreamSettings): string =>
  [
    max_age === 0 ? "not limited in time" : durationText(max_age / 1_000_000),
    ...(max_bytes < 0 ? [] : [`at most ${sizeText(max_bytes)}`]),
    ...(max_msgs_per_subject < 0
      ? []
      : [`the last ${max_msgs_per_subject.toLocaleString("en")} per subject`]),
    storage === "file" ? "on disk" : "in memory",
  ].join(", ");

export const subjectsPage = (): string =>
  page(
    "Streams and subjects",
    "What the broker holds. [Follow the stream](../how-to/follow-the-stream.md) shows a consumer that runs.",
    table(
      ["stream", "holds", "kept", "subjects"],
      topology({ replicas: 1 }).map(({ name, purpose, settings }) => [
        code(name),
        prose(purpose),
        keptText(settings),
        codes(settings.subjects, " "),
      ]),
    ),
    "## The subject of an event",
    `\`audit.<tenant>.<asset>.<group>.<name>\`, five tokens always.`,
    table(
      ["token", "comes from"],
      [
        ["tenant", "the key that sent the event"],
        [
          "asset",
          "`asset_id`; bytes outside `A-Za-z0-9_-` are percent-encoded, so `credit model.v2` becomes `credit%20model%2Ev2`",
        ],
        ["group, name", "`event_type`, split at its dot; types without a dot are in the group `legacy`"],
      ],
    ),
    table(
      ["to follow", "filter"],
      [
        ["everything", "`audit.>`"],
        ["one tenant", "`audit.acme.>`"],
        ["one tenant's decisions", "`audit.acme.*.decision.>`"],
        ["one asset", "`audit.acme.credit_model.>`"],
        ["every incident when it is detected", "`audit.*.*.incident.detected`"],
        ["what administrators did", "`audit.prooftrail-system.>`"],
      ],
    ),
    "## Other subjects",
    table(
      ["subject", "message"],
      [
        [
          "`obligation.<tenant>.<asset>.<rule>.<transition>`",
          "an obligation changed; see [Obligations](obligations.md#messages)",
        ],
        ["`checkpoint.<tenant>`", "a signed tree head, as a C2SP checkpoint"],
        ["`checkpoint_key.<fingerprint>`", "a public key that signs tree heads, 32 bytes"],
        ["`stored.<subject>`", "a copy of each stored message, for consumers in an account of their own"],
      ],
    ),
    "## Users of the broker",
    "`streams/permissions.ts` lists what each may publish and subscribe to.",
    table(
      ["user", "for"],
      Object.keys(PERMISSIONS).map((user) => [code(user), USERS[user] ?? ""]),
    ),
  );

const USERS: Readonly<Record<string, string>> = {
  service: "Prooftrail while it runs: appends and reads; can neither change nor delete a stream or a message",
  provisioner: "the start and each reconnect: makes and updates streams; publishes no event",
  consumer: "your services: read `AUDIT`, `OBLIGATIONS` and `CHECKPOINTS`; publish no event",
};
