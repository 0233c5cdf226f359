/** Turns a request into facts: names in one spelling, aliases resolved, and the cautious value for a missing or unknown one. Pure. */
import { MEMBER_CHARACTERS_SHOWN, pointerToken } from "../../event/json-pointer.ts";
import { nearest } from "../../event/nearest-word.ts";
import { WARNINGS_MAX } from "../../limits.ts";
import { DOMAIN_WORDS, DOMAINS, type Domain, domainNamed } from "./domains.ts";
import { ClassificationRequest } from "./request.ts";
import {
  AI_TYPES,
  type AiType,
  AUTONOMIES,
  AUTONOMY_ALIASES,
  type Autonomy,
  GENERATIVE_TYPES,
  IMPACT_ALIASES,
  IMPACTS,
  type Impact,
} from "./vocabulary.ts";

export interface Facts {
  readonly aiType: AiType;
  /** In the spelling of DOMAINS, or as it was sent if it is none of them. */
  readonly domainName: string;
  readonly domain: Domain;
  readonly isKnownDomain: boolean;
  readonly autonomy: Autonomy;
  readonly impact: Impact;
  readonly hasPersonalData: boolean;
  readonly isGenerative: boolean;
  readonly isIndistinguishable: boolean;
  readonly trainingFlops: number;
}

export interface ClassificationWarning {
  /** JSON Pointer into the request. */
  readonly path: string;
  readonly code: "missing" | "unknown_value" | "unknown_domain" | "unknown_field";
  readonly message: string;
}

export interface ReadFacts {
  readonly facts: Facts;
  readonly warnings: readonly ClassificationWarning[];
  /** 1 if everything was understood. */
  readonly confidence: number;
}

const CONFIDENCE_UNKNOWN_VALUE = 0.6;
const CONFIDENCE_UNKNOWN_DOMAIN = 0.3;

const spelled = (word: string): string =>
  word
    .trim()
    .toLowerCase()
    .replace(/[-\s]+/g, "_");

interface Choice<Value extends string> {
  readonly values: readonly Value[];
  readonly aliases: Readonly<Record<string, Value>>;
  readonly missing: Value;
  readonly unknown: Value;
}

const AI_TYPE: Choice<AiType> = { values: AI_TYPES, aliases: {}, missing: "other", unknown: "other" };
const AUTONOMY: Choice<Autonomy> = {
  ...{ values: AUTONOMIES, aliases: AUTONOMY_ALIASES },
  ...{ missing: "full_auto", unknown: "full_auto" },
};
const IMPACT: Choice<Impact> = {
  ...{ values: IMPACTS, aliases: IMPACT_ALIASES },
  ...{ missing: "medium", unknown: "high" },
};

const MEMBERS: ReadonlySet<string> = new Set(Object.keys(ClassificationRequest.properties));

export const readFacts = (request: ClassificationRequest): ReadFacts => {
  const warnings: ClassificationWarning[] = [];
  let confidence = 1;
  const doubt = (warning: ClassificationWarning, atMost: number): void => {
    warnings.push(warning);
    confidence = Math.min(confidence, atMost);
  };
  const choose = <Value extends string>(
    member: "ai_type" | "decision_autonomy" | "user_impact",
    { values, aliases, missing, unknown }: Choice<Value>,
  ): Value => {
    const sent = request[member];
    if (sent === undefined) {
      const message = `${member} is missing: taken as "${missing}". Send one of ${values.join(", ")}.`;
      doubt({ path: `/${member}`, code: "missing", message }, 1);
      return missing;
    }
    const word = spelled(sent);
    const alias = Object.hasOwn(aliases, word) ? aliases[word] : undefined;
    const known = values.find((value) => value === word) ?? alias;
    if (known !== undefined) return known;
    const hint = hintFor(word, [...values, ...Object.keys(aliases)]);
    const message = `${member} is none of ${values.join(", ")}: taken as "${unknown}".${hint}`;
    doubt({ path: `/${member}`, code: "unknown_value", message }, CONFIDENCE_UNKNOWN_VALUE);
    return unknown;
  };

  for (const member in request) {
    if (MEMBERS.has(member)) continue;
    const hint = hintFor(member, [...MEMBERS]);
    const path = `/${pointerToken(member.slice(0, MEMBER_CHARACTERS_SHOWN))}`;
    doubt({ path, code: "unknown_field", message: `It has no meaning here.${hint}` }, 1);
    if (warnings.length >= WARNINGS_MAX) break;
  }
  const word = spelled(request.domain);
  const domainName = domainNamed(word);
  if (domainName === undefined) {
    const hint = hintFor(word, DOMAIN_WORDS);
    const message = `The domain is not known: classified by what is known of every domain, and never as low.${hint}`;
    doubt({ path: "/domain", code: "unknown_domain", message }, CONFIDENCE_UNKNOWN_DOMAIN);
  }
  const domain: Domain = domainName === undefined ? {} : (DOMAINS[domainName] ?? {});
  const aiType = choose("ai_type", AI_TYPE);
  const isIndistinguishable =
    request.indistinguishable_output === true || domainName === "synthetic_media_realistic";
  const isGenerativeType = GENERATIVE_TYPES.some((type) => type === aiType);
  return {
    facts: {
      aiType,
      domainName: domainName ?? word,
      domain,
      isKnownDomain: domainName !== undefined,
      autonomy: choose("decision_autonomy", AUTONOMY),
      impact: choose("user_impact", IMPACT),
      hasPersonalData: request.processes_personal_data === true,
      isGenerative:
        isGenerativeType ||
        request.generates_content === true ||
        isIndistinguishable ||
        domain.isGenerative === true,
      isIndistinguishable,
      trainingFlops: request.training_compute_flops ?? 0,
    },
    warnings,
    confidence,
  };
};

const hintFor = (word: string, candidates: readonly string[]): string => {
  const near = nearest(word, candidates);
  return near === undefined ? "" : ` Did you mean "${near}"?`;
};
