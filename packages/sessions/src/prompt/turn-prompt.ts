import { type Instructions, instructionsText } from "@gennai/agent/prompt/instructions";
import { repositoryBlock, systemPrompt, terminalBlock } from "@gennai/agent/prompt/system-prompt";
import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { repositorySummary } from "@gennai/git/repository-summary";
import { intentContext } from "@gennai/governance/intents/intent-context";
import { createMayRead, type MayRead } from "../context/may-read.ts";
import { modeFor } from "../policies/proposal-mode.ts";
import type { Session } from "../session/session.ts";
import { sessionSkills } from "./load-skills.ts";
import { type ProjectNotes, readProjectNotes } from "./project-notes.ts";

/** The system prompt of a turn with this scenario, for a model that was told nothing yet. */
export async function turnPrompt(session: Session, scenario: Scenario): Promise<string> {
  return instructionsText(await turnInstructions(session, scenario));
}

/** The current instructions before the conversation of a turn with this scenario; masked. */
export async function turnInstructions(
  session: Session,
  scenario: Scenario,
  notes?: ProjectNotes,
): Promise<Instructions> {
  const { services, workspace, state } = session;
  // Without the project's rules, no request goes to the model.
  await workspace.syncControl({ workedOn: state.knownFiles.paths, maxAgeMs: 250 });
  // Directories of files worked on since may have their own notes.
  const worked = [...state.knownFiles.paths].some((path) => path.includes("/"));
  const mayRead = await createMayRead(session);
  const now = notes === undefined || worked ? await projectNotes(session, mayRead) : notes;
  const { intents } = await services.governanceOf(workspace);
  const rules = await intents.rules(state.activeIntentId);
  const stages = workspace.client === undefined ? services.stages : undefined;
  const instructions = systemPrompt({
    scenario,
    workingDir: workspace.root,
    editingMode: await modeFor(session, scenario, session.settings.editingMode),
    stagedCommands: (await stages?.support(workspace.root))?.state === "staged",
    verbosity: session.settings.verbosity,
    platform: workspace.client?.platform ?? process.platform,
    date: new Date(services.now()).toISOString().slice(0, 10),
    repository: state.conversation.partTold("repository") ?? (await repositoryNow(session, mayRead)),
    terminal: state.conversation.partTold("terminal") ?? (session.clients.can("command") ? terminalBlock : ""),
    todos: state.todos,
    projectNotes: now.texts,
    skills: [...(await sessionSkills(session, mayRead)).values()],
    intents: {
      required: rules.on,
      selectable: rules.selectable,
      context: rules.active === undefined ? "" : intentContext(rules.active),
    },
  });
  const { opening, sections } = instructions;
  return {
    ...instructions,
    opening: await services.redactor.redact(opening),
    sections: await Promise.all(
      sections.map(async (section) => ({ ...section, text: await services.redactor.redact(section.text) })),
    ),
  };
}

/** Taken once: what is told at the beginning stays the same. Empty without a repository here. */
async function repositoryNow({ workspace }: Session, mayRead: MayRead): Promise<string> {
  const found = workspace.client === undefined ? await repositorySummary(workspace.root) : undefined;
  if (found === undefined) return "";
  const shown = await Promise.all(found.changes.map((line) => mayRead(line.slice(3))));
  return repositoryBlock({ ...found, changes: found.changes.filter((_line, at) => shown[at]) });
}

/** @param mayRead created for this session just before */
export async function projectNotes(session: Session, mayRead?: MayRead): Promise<ProjectNotes> {
  const { services, workspace, state } = session;
  return readProjectNotes(workspace.controlRoot, services.redactor, {
    userDirectory: services.configDir,
    workedOn: state.knownFiles.paths,
    mayRead: mayRead ?? (await createMayRead(session)),
  });
}
