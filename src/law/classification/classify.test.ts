import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EVENT_TYPES } from "../../event/event-types.ts";
import { RISK_TIERS } from "../../event/risk-tiers.ts";
import { WARNINGS_MAX } from "../../limits.ts";
import goldenCases from "./classification-cases.json" with { type: "json" };
import { classify } from "./classify.ts";
import { DOMAIN_WORDS, DOMAINS } from "./domains.ts";
import { OBLIGATIONS } from "./obligations.ts";
import type { ClassificationRequest } from "./request.ts";
import { RULES } from "./rules.ts";
import { AI_TYPES, AUTONOMIES, IMPACTS, JURISDICTIONS, LAWS } from "./vocabulary.ts";

const sets = (request: ClassificationRequest) => {
  const { risk_tier, legal_bases, matched_rules, obligations } = classify(request);
  return {
    risk_tier,
    legal_bases: [...legal_bases].sort(),
    matched_rules: [...matched_rules].sort(),
    obligations: obligations.map(({ code }) => code as string).sort(),
  };
};

describe("the golden cases", () => {
  for (const { id, input, expected } of goldenCases.cases) {
    test(id, () => {
      const { risk_tier, legal_bases, matched_rules, obligations } = expected;
      expect(sets(input)).toEqual({
        risk_tier: risk_tier as never,
        legal_bases: [...legal_bases].sort() as never,
        matched_rules: [...matched_rules].sort(),
        obligations: [...obligations].sort(),
      });
    });
  }
});

describe("edge cases", () => {
  const caseNamed = (id: string): ClassificationRequest => {
    const found = goldenCases.cases.find((one) => one.id === id);
    if (!found) throw new Error(`there is no case ${id}`);
    return found.input;
  };
  test("an unknown domain is limited, never low, and is reported as unknown", () => {
    const answer = classify({
      domain: "astrology",
      decision_autonomy: "none",
      user_impact: "low",
      ai_type: "other",
    });
    expect([answer.risk_tier, answer.confidence]).toEqual(["limited", 0.3]);
    expect(answer.warnings.map(({ code, path }) => [code, path])).toEqual([["unknown_domain", "/domain"]]);
  });
  test("another spelling or an alias means the same domain", () => {
    for (const domain of ["hiring", "HIRING ", "employment-recruitment", "Employment Recruitment"])
      expect(classify({ domain }).normalized_input.domain).toBe("employment_recruitment");
    expect(classify({ domain: "Finance Credit-Evaluation" }).normalized_input.domain).toBe(
      "finance_credit_evaluation",
    );
    for (const word of DOMAIN_WORDS)
      expect(Object.keys(DOMAINS)).toContain(classify({ domain: word }).normalized_input.domain);
  });
  test("a chatbot without a stated impact is limited", () => {
    const answer = classify({ domain: "general_chatbot", decision_autonomy: "none", ai_type: "llm" });
    expect([answer.risk_tier, answer.warnings.map(({ path }) => path)]).toEqual([
      "limited",
      ["/user_impact"],
    ]);
  });
  test("only the requested laws are cited", () => {
    const only = (id: string, jurisdictions: (typeof JURISDICTIONS)[number][]) =>
      sets({ ...caseNamed(id), jurisdictions });
    expect(only("G01", ["kr"]).legal_bases).toEqual([
      "ai_basic_law_kr",
      "credit_info_36_2_kr",
      "pipa_37_2_kr",
    ]);
    expect(only("G16", ["kr"])).toMatchObject({ risk_tier: "high" });
    expect(only("G16", ["kr"]).matched_rules).toContain("H4");
    expect(only("G02", ["kr"])).toMatchObject({ risk_tier: "limited", matched_rules: ["L6"] });
    expect(only("G07", ["us_nyc"])).toMatchObject({ risk_tier: "limited", legal_bases: ["nyc_ll144"] });
  });
  test("duties cite only the requested laws, and only duties of these laws are listed", () => {
    const duties = (id: string, jurisdictions: (typeof JURISDICTIONS)[number][]) =>
      Object.fromEntries(
        classify({ ...caseNamed(id), jurisdictions }).obligations.map(({ code, clause, deadline }) => [
          code,
          [clause, deadline],
        ]),
      );
    const korean = duties("G07", ["kr"]);
    expect(korean).toMatchObject({
      pre_use_notice: ["KR 31(1), Decree 23(1)", null],
      human_oversight: [
        "KR 34(1)4; PIPA Decree 44-3(1)2",
        "refusal of an automated decision under PIPA: 30 days",
      ],
      log_retention: ["KR Decree 27(2)", "KR 5 years"],
    });
    expect(Object.keys(korean)).not.toContain("lifecycle_registration");
    expect(duties("G07", ["us_nyc"])).toEqual({
      pre_use_notice: ["LL144", "New York City: 10 business days before use"],
      policy_disclosure: ["LL144", null],
      bias_audit: ["LL144", "1 year"],
    });
    expect(duties("G01", ["eu", "us_co"])).toMatchObject({
      explanation: ["EU 86; CO SB 26-189", "30 days"],
      log_retention: ["EU 19, 26(6); CO SB 26-189", "EU at least 6 months; CO at least 3 years"],
    });
  });
  test.each([
    ["G35", "pre_use_notice", "KR 31(1), Decree 23(1); EU 50(1), (3), (5)", null],
    ["G02", "explanation", "EU 86; CO SB 26-189", "30 days"],
    ["G26", "explanation", "KR 3(2), 34(1)2; EU 86", null],
    ["G05", "explanation", "PIPA 37-2(2); KR 3(2), 34(1)2", "30 days"],
    ["G01", "incident_reporting", "EU 73, 26(5)", "15 days; 10 after a death; 2 for critical infrastructure"],
    // No law that sets the rules for it mentions it.
    ["G11", "decision_logging", "KR 34(1)5", null],
    ["G28", "lifecycle_registration", "EU 49", null],
    // A person decides, so no Korean law asks for it.
    ["G08", "policy_disclosure", "LL144", null],
  ])("%s: %s cites the laws that set the rules for it", (id, code, clause, deadline) => {
    const { obligations } = classify(caseNamed(id));
    expect(obligations.find((each) => each.code === code)).toMatchObject({ clause, deadline });
  });
  test.each([
    ["incident_reporting", { training_compute_flops: 1e26 }],
    [
      "decision_logging",
      { ai_type: "emotion_recognition", user_impact: "medium", processes_personal_data: true },
    ],
  ] as const)("%s: what one place asks for is said also where another asks for it", (code, more) => {
    const request = {
      domain: "other",
      decision_autonomy: "full_auto",
      user_impact: "high",
      ...more,
    } as const;
    const [inEurope, inKorea, inBoth] = ([["eu"], ["kr"], ["eu", "kr"]] as const).map((jurisdictions) =>
      classify({ ...request, jurisdictions: [...jurisdictions] }).obligations.find(
        (each) => each.code === code,
      ),
    );
    expect(inBoth?.clause).toBe(`${inEurope?.clause}; ${inKorea?.clause}`);
    expect(inBoth?.deadline ?? null).toBe(inEurope?.deadline ?? null);
  });
  test("an unknown value counts as the cautious one, and the warning suggests the nearest spelling", () => {
    const answer = classify({
      domain: "hr",
      ai_type: "lm",
      decision_autonomy: "full_autto",
      user_impact: "huge",
    });
    expect(answer.normalized_input).toMatchObject({
      ai_type: "other",
      decision_autonomy: "full_auto",
      user_impact: "high",
    });
    expect(answer.warnings.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
      "/ai_type unknown_value",
      "/decision_autonomy unknown_value",
      "/user_impact unknown_value",
    ]);
    expect(answer.warnings.find(({ path }) => path === "/decision_autonomy")?.message).toContain(
      '"full_auto"?',
    );
    expect(answer.confidence).toBeLessThan(1);
  });
  test("an inherited property name is not an alias", () => {
    for (const word of ["constructor", "__proto__", "toString"]) {
      const answer = classify({ domain: word, decision_autonomy: word, user_impact: word, ai_type: word });
      expect(answer.warnings.map(({ code }) => code).sort()).toEqual([
        "unknown_domain",
        "unknown_value",
        "unknown_value",
        "unknown_value",
      ]);
    }
  });
});

describe("what the answer says besides the tier", () => {
  const refsOf = (request: ClassificationRequest): string =>
    classify(request)
      .cited_clauses.map(({ ref }) => ref)
      .join("; ");
  const grave = { decision_autonomy: "full_auto", user_impact: "high" } as const;

  test("every prohibited practice is cited with a point of article 5(1)", () => {
    for (const { practice } of Object.values(DOMAINS))
      if (practice) expect(practice).toMatch(/^5\(1\)\([a-h][ab]?\)/);
  });

  test("emotion recognition has its own point of Annex III if the domain's point needs a person", () => {
    const credit = { ...grave, domain: "finance_credit_evaluation", ai_type: "emotion_recognition" } as const;
    expect(refsOf(credit)).toContain("Annex III 1(c)");
    expect(refsOf(credit)).not.toContain("5(b)");
    expect(refsOf({ ...credit, processes_personal_data: true })).toContain("Annex III 5(b), 1(c)");
  });

  test.each([
    ["healthcare_diagnosis", "2(4)(다)(라), 34(1)"],
    ["education_admission", "Annex III 3(a), (c)"],
    ["law_enforcement_biometrics", "Annex III 1(a), 6"],
  ])("all clauses of %s are cited", (domain, ref) => {
    const request = { ...grave, domain, ai_type: "predictive_ml", processes_personal_data: true } as const;
    expect(refsOf(request)).toContain(ref);
  });
});

describe("each condition of a rule", () => {
  const alone = { decision_autonomy: "full_auto", user_impact: "high", ai_type: "predictive_ml" } as const;
  const helper = { decision_autonomy: "advisory", user_impact: "low", ai_type: "predictive_ml" } as const;
  const person = { processes_personal_data: true } as const;

  const who = { alone, helper, alonePerson: { ...alone, ...person }, helperPerson: { ...helper, ...person } };

  // A rule with ! in front must not hold.
  test.each<[who: keyof typeof who, domain: string, more: Partial<ClassificationRequest>, rules: string]>([
    ["helper", "education_admission", {}, "L4 !H1"],
    ["helperPerson", "education_admission", {}, "H1 !L4"],
    ["alone", "critical_infrastructure_energy", { user_impact: "medium" }, "H2 !L6"],
    ["alone", "critical_infrastructure_energy", { user_impact: "low" }, "L6 !H2"],
    ["alonePerson", "employment_recruitment", {}, "H2 !L6"],
    ["alone", "employment_recruitment", {}, "!H2 !L6"],
    ["alone", "finance_credit_evaluation", {}, "!H1 !H2 !H4 !L4 !L6"],
    ["helperPerson", "finance_credit_evaluation", {}, "L6 !H2"],
    ["alonePerson", "housing", {}, "H4 !H2"],
    ["helperPerson", "housing", {}, "R5 !H4 !L6"],
    ["helper", "other", { indistinguishable_output: true }, "L1"],
    ["helper", "internal_productivity", { indistinguishable_output: true }, "!L1"],
    ["alonePerson", "law_enforcement_risk_assessment", {}, "P3"],
    ["alone", "law_enforcement_risk_assessment", {}, "!P3"],
    ["helper", "other", { generates_content: true }, "L1"],
    ["helper", "other", {}, "!L1"],
    ["helper", "other", { training_compute_flops: 1e25 }, "X1"],
    ["helper", "other", { training_compute_flops: 9.9e24 }, "!X1"],
  ])("%s in %s with %j: %s", (name, domain, more, rules) => {
    const { matched_rules } = classify({ ...who[name], domain, ...more });
    for (const rule of rules.split(" "))
      if (rule.startsWith("!")) expect(matched_rules).not.toContain(rule.slice(1));
      else expect(matched_rules).toContain(rule);
  });

  test("Korea's threshold for computing is ten times the EU's", () => {
    const lawsAt = (training_compute_flops: number) =>
      classify({ ...helper, domain: "other", training_compute_flops }).legal_bases;
    expect([lawsAt(9.9e25), lawsAt(1e26)]).toEqual([
      ["eu_ai_act_art_51"],
      ["eu_ai_act_art_51", "ai_basic_law_kr"],
    ]);
  });

  test.each([
    ["nonconsensual_intimate_imagery", "eu_ai_act_art_5", "2026-12-02"],
    ["social_scoring", "eu_ai_act_art_5", LAWS.eu_ai_act_art_5.appliesFrom],
    ["healthcare_diagnosis", "eu_ai_act_art_6", "2028-08-02"],
  ])("%s: the clause of %s applies from %s", (domain, law, from) => {
    const cited = classify({ ...alone, ...person, domain }).cited_clauses;
    expect(cited.filter(({ legal_basis }) => legal_basis === law).map((each) => each.applies_from)).toContain(
      from,
    );
  });

  test("an impact assessment is an effort if only Korea asks for it, even if Annex III names the use", () => {
    const found = classify({ ...alone, domain: "critical_infrastructure_energy" });
    expect(found.matched_rules).toEqual(expect.arrayContaining(["H1", "H2"]));
    expect(found.obligations.find(({ code }) => code === "impact_assessment")?.force).toBe("should");
  });

  test("only the first unknown members are warned about if there are too many", () => {
    const many = Object.fromEntries(
      Array.from({ length: 2 * WARNINGS_MAX }, (_, index) => [`x_${index}`, 1]),
    );
    expect(classify({ ...alone, domain: "other", ...many }).warnings).toHaveLength(WARNINGS_MAX);
  });
});

/** The jurisdiction by the word that a clause begins with. */
const PLACES = {
  KR: "kr",
  PIPA: "kr",
  CIA: "kr",
  EU: "eu",
  GDPR: "eu",
  LL144: "us_nyc",
  CO: "us_co",
} as const;

describe("the whole grid", () => {
  const rank = (request: ClassificationRequest): number => RISK_TIERS.indexOf(classify(request).risk_tier);

  test("more autonomy, more impact or personal data never lowers the tier, and every rule applies somewhere", () => {
    const hits = new Set<string>();
    const lowered: string[] = [];
    for (const domain of [...Object.keys(DOMAINS), "unheard_of"])
      for (const ai_type of AI_TYPES) {
        const ranks = new Map<string, number>();
        for (const [autonomy, decision_autonomy] of AUTONOMIES.entries())
          for (const [impact, user_impact] of IMPACTS.entries())
            for (const data of [0, 1]) {
              const processes_personal_data = data === 1;
              const input = { domain, ai_type, decision_autonomy, user_impact, processes_personal_data };
              const { risk_tier, matched_rules } = classify(input);
              for (const id of matched_rules) hits.add(id);
              const tier = RISK_TIERS.indexOf(risk_tier);
              ranks.set(`${autonomy} ${impact} ${data}`, tier);
              const milder = [
                `${autonomy - 1} ${impact} ${data}`,
                `${autonomy} ${impact - 1} ${data}`,
                `${autonomy} ${impact} 0`,
              ];
              if (milder.some((each) => (ranks.get(each) ?? 0) > tier)) lowered.push(JSON.stringify(input));
            }
      }
    expect(lowered).toEqual([]);
    for (const { id } of RULES.filter((rule) => rule.id !== "X1")) expect([...hits]).toContain(id);
  });

  test("personal data never lowers the tier and only requested laws are cited, for any input and any selection of laws", () => {
    const request = fc.record(
      {
        domain: fc.constantFrom(...DOMAIN_WORDS),
        ai_type: fc.constantFrom(...AI_TYPES),
        decision_autonomy: fc.constantFrom(...AUTONOMIES),
        user_impact: fc.constantFrom(...IMPACTS),
        generates_content: fc.boolean(),
        indistinguishable_output: fc.boolean(),
        training_compute_flops: fc.constantFrom(0, 1e25, 1e26),
        jurisdictions: fc.uniqueArray(fc.constantFrom(...JURISDICTIONS), { minLength: 1 }),
      },
      { requiredKeys: ["domain", "ai_type", "decision_autonomy", "user_impact"] },
    );
    fc.assert(
      fc.property(request, (one) => {
        expect(rank({ ...one, processes_personal_data: true })).toBeGreaterThanOrEqual(rank(one));
        const answer = classify(one);
        for (const { legal_basis } of answer.cited_clauses)
          expect(one.jurisdictions ?? JURISDICTIONS).toContain(
            LAWS[legal_basis as keyof typeof LAWS].jurisdiction,
          );
        for (const { clause } of answer.obligations)
          for (const law of clause.split("; "))
            expect(one.jurisdictions ?? JURISDICTIONS).toContain(
              PLACES[law.split(" ")[0] as keyof typeof PLACES],
            );
      }),
      { numRuns: 2000 },
    );
    expect(classify({ domain: "other", training_compute_flops: 1e26 }).matched_rules).toContain("X1");
  });
});

test("every event type that is evidence of an obligation can be sent", () => {
  for (const { eventTypes } of Object.values(OBLIGATIONS))
    for (const type of eventTypes) expect(EVENT_TYPES).toContain(type);
});
