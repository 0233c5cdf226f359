/** The console: what the address names, for whoever is signed in. */
import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { followLinks, go, place, safeNext } from "./address.ts";
import { OFFLINE } from "./api.ts";
import { readLabels } from "./labels.ts";
import { language } from "./language.ts";
import { Failed, Loading, NotForThisSeat } from "./parts/page-states.tsx";
import { Shell } from "./parts/shell.tsx";
import type { Screen } from "./screen-names.ts";
import { CoverageScreen } from "./screens/coverage.tsx";
import { DecisionScreen } from "./screens/decision.tsx";
import { DecisionsScreen } from "./screens/decisions.tsx";
import { EventScreen } from "./screens/event.tsx";
import { EventsScreen } from "./screens/events.tsx";
import { EvidenceScreen } from "./screens/evidence.tsx";
import { FirstReportScreen } from "./screens/first-report.tsx";
import { IncidentScreen } from "./screens/incident.tsx";
import { KeysScreen } from "./screens/keys.tsx";
import { LetterScreen } from "./screens/letter.tsx";
import { LookedAtScreen } from "./screens/looked-at.tsx";
import { ObligationsScreen } from "./screens/obligations.tsx";
import { OverviewScreen } from "./screens/overview.tsx";
import { RecordScreen } from "./screens/record.tsx";
import { isRegister, RegisterScreen } from "./screens/register.tsx";
import { RetentionScreen } from "./screens/retention.tsx";
import { hasLinkKey, SignInScreen } from "./screens/sign-in.tsx";
import { GapsScreen, SourcesScreen } from "./screens/sources.tsx";
import { SystemScreen } from "./screens/system.tsx";
import { keepSession, maySee, readSession, session } from "./session.ts";
import { readSystems } from "./systems.ts";
import { say, type Word } from "./words.ts";

const ScreenOf = ({ screen }: { readonly screen: Screen }) => {
  if (isRegister(screen)) return <RegisterScreen name={screen} />;
  switch (screen) {
    case "":
      return <OverviewScreen />;
    case "events":
      return <EventsScreen />;
    case "event":
      return <EventScreen />;
    case "decisions":
      return <DecisionsScreen />;
    case "decision":
      return <DecisionScreen />;
    case "letter":
      return <LetterScreen />;
    case "obligations":
      return <ObligationsScreen />;
    case "coverage":
      return <CoverageScreen />;
    case "evidence":
      return <EvidenceScreen />;
    case "record":
      return <RecordScreen />;
    case "system":
      return <SystemScreen />;
    case "incident":
      return <IncidentScreen />;
    case "first-report":
      return <FirstReportScreen />;
    case "sources":
      return <SourcesScreen />;
    case "gaps":
      return <GapsScreen />;
    case "keys":
      return <KeysScreen />;
    case "retention":
      return <RetentionScreen />;
    case "looked-at":
      return <LookedAtScreen />;
    case "sign-in":
      return null;
  }
};

const Page = ({ screen }: { readonly screen: Screen | undefined }) => {
  if (screen === undefined) return <h1>{say("no_screen")}</h1>;
  return maySee(screen) ? <ScreenOf key={screen} screen={screen} /> : <NotForThisSeat screen={screen} />;
};

const TITLES: Readonly<Partial<Record<Screen, Word>>> = {
  "": "overview",
  "sign-in": "sign_in",
  "first-report": "first_report",
  "risk-changes": "risk_changes",
  "looked-at": "looked_at",
};

const isWord = (name: Screen): name is Screen & Word => !Object.hasOwn(TITLES, name);

const titleOf = (screen: Screen): string => {
  const word = TITLES[screen] ?? (isWord(screen) ? screen : "overview");
  const id = place.value.parameters.get("id");
  return [id, say(word), "Prooftrail"].filter((part) => part !== null).join(" · ");
};

const Console = () => {
  const { screen } = place.value;
  const who = session.value;
  const isSignedIn = who instanceof Object;
  useEffect(() => {
    if (!isSignedIn) return;
    readLabels();
    readSystems();
    // Who is signed in has nothing to do on this page.
    if (place.value.screen === "sign-in")
      go(safeNext(place.value.parameters.get("next")), { replaces: true });
  }, [isSignedIn]);
  if (who === "nobody") return <SignInScreen />;
  if (who === "offline")
    return (
      <main class="door">
        <h1>Prooftrail</h1>
        <Failed failure={OFFLINE} again={readSession} />
      </main>
    );
  if (who === undefined) return <Loading />;
  return (
    <Shell who={who}>
      <Page screen={screen} />
    </Shell>
  );
};

effect(() => {
  document.documentElement.lang = language.value;
  document.title = titleOf(place.value.screen ?? "");
});
followLinks();
keepSession();
if (hasLinkKey) session.value = "nobody";
else readSession();
const root = document.getElementById("console");
if (root) render(<Console />, root);
