import { setEmergencyControl } from "../governance/emergency.ts";
import { listIntents, type SessionIntents, selectIntent } from "../governance/intents.ts";
import { listRules } from "../governance/rules.ts";
import { noSession, type SlashCommand, said, shown } from "./command.ts";

/** What the agent may do. */
export const governanceCommands: readonly SlashCommand[] = [
  {
    name: "intent",
    argument: "[ID]",
    description: "Puts the session under an intent; alone: lists them, with a mark at the one it is under",
    run: async ({ session, governance, views, signal }, id) => {
      if (session === undefined) return noSession;
      if (id === "" && views.has("intents")) return shown("intents");
      if (id === "") return said(intentLines(await listIntents(governance, session.sessionId, { signal })));
      const { id: chosen, name } = await selectIntent(governance, session.sessionId, id, { signal });
      return said(`Intent ${chosen} ${name}`.trim());
    },
  },
  {
    name: "rules",
    argument: "",
    description: "Shows the rules in force, and what they stopped",
    run: async ({ session, governance, views, signal }) => {
      if (views.has("rules")) return shown("rules");
      const { rules } = await listRules(governance, session?.sessionId ?? "", { signal });
      const active = rules.filter(({ refused, allowed }) => refused + allowed > 0);
      const lines = active.map(({ name, refused, allowed }) => `${name}: ${refused} refused, ${allowed} let through`);
      return said([`${rules.length} rules in force.`, ...lines].join("\n"));
    },
  },
  {
    name: "read-only",
    argument: "on | off REASON",
    description: "Emergency control of the server: nothing may change anything, in any session, until it is lifted",
    run: async ({ governance, userName, signal }, text) => {
      const [, word = "", reason = ""] = /^(on|off)?\s*([\s\S]*)$/.exec(text) ?? [];
      if (word === "" || (word === "off" && reason === ""))
        return said("Say `/read-only on`, or `/read-only off REASON`.");
      const enabled = word === "on";
      const request = { control: "read-only", enabled, tool: "", by: userName, reason } as const;
      await setEmergencyControl(governance, request, { signal });
      return said(enabled ? "Read-only from now on, for all sessions." : "Read-only is lifted.");
    },
  },
];

function intentLines({ intents, warnings, active }: SessionIntents): string {
  if (intents.length === 0)
    return ["No intents here: `.orchestration/active_intents.yaml` holds none.", ...warnings].join("\n");
  const lines = intents.map(({ id, name, status, selectable }) => {
    const mark = id === active?.id ? "▸" : "-";
    return `${mark} ${id} ${name} (${status || "no status"}${selectable ? "" : ", not selectable"})`;
  });
  return [...lines, ...warnings].join("\n");
}
