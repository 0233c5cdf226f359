/** Every command, in the order of the help. */
import type { CommandGroup } from "./command.ts";
import { CLASSIFY } from "./commands/classify.ts";
import { completionCommand } from "./commands/completion.ts";
import { CONSOLE } from "./commands/console.ts";
import { DEMO } from "./commands/demo.ts";
import { DOCTOR } from "./commands/doctor.ts";
import { EVENTS } from "./commands/events.ts";
import { EVIDENCE } from "./commands/evidence.ts";
import { EXPORT } from "./commands/export.ts";
import { KEYS } from "./commands/keys.ts";
import { RESTORE } from "./commands/restore.ts";
import { SEND } from "./commands/send.ts";
import { SERVE } from "./commands/serve.ts";
import { VERIFY } from "./commands/verify.ts";
import { VIEWS } from "./commands/views.ts";
import { REGISTER_COMMANDS, RETENTION } from "./registers.ts";

export const ROOT: CommandGroup = {
  name: "prooftrail",
  summary: "The audit log for AI systems that can prove itself",
  examples: [
    ["a service, its data in ./data", "prooftrail serve"],
    ["in a second terminal, in the same folder", "prooftrail send event.json\nprooftrail events list"],
    ["what a command takes", "prooftrail keys create --help"],
  ],
  commands: [
    SERVE,
    DEMO,
    CONSOLE,
    KEYS,
    SEND,
    EVENTS,
    ...REGISTER_COMMANDS,
    RETENTION,
    CLASSIFY,
    EXPORT,
    EVIDENCE,
    VERIFY,
    VIEWS,
    DOCTOR,
    RESTORE,
    // Completion describes the tree that contains it.
    completionCommand(() => ROOT),
  ],
};
