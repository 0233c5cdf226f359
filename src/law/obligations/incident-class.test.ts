import { expect, test } from "bun:test";
import { fact } from "../../../test/support/facts.ts";
import { caseOf } from "../cases/case.ts";
import { classOfIncident } from "./incident-class.ts";

test("an incident keeps the class that it was detected with, unless an event says one that leaves less time to report it", () => {
  const classOf = (until: string | undefined, ...said: readonly string[]): string | undefined => {
    const facts = said.map((incident_class, index) =>
      fact(`i${index} incident.${index === 0 ? "detected" : "mitigated"} 2026-09-01T1${index}:00:00Z`, {
        incident_id: "i1",
        incident_class,
      }),
    );
    const [incident] = caseOf(facts).incidents;
    return incident && classOfIncident(incident, until && `2026-09-01T${until}:00:00`);
  };
  expect(classOf(undefined, "property", "fundamental_rights")).toBe("property");
  expect(classOf(undefined, "property", "Death", "property")).toBe("Death");
  expect(classOf(undefined, "death", "widespread_infringement", "property")).toBe("widespread_infringement");
  expect(classOf(undefined, "critical_infrastructure", "death")).toBe("critical_infrastructure");
  expect(classOf("11", "property", "death")).toBe("death");
  expect(classOf("10", "property", "death")).toBe("property");
});
