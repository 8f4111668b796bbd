import { systemPrompt } from "@gennai/agent/prompt/system-prompt";
import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { intentContext } from "@gennai/governance/intents/intent-context";
import { createMayRead } from "../context/may-read.ts";
import { type ProjectNotes, readProjectNotes } from "../notes/project-notes.ts";
import type { Session } from "../session/session.ts";
import { loadSkills, type Skill } from "../skills/load-skills.ts";

/** The system prompt of a turn with this scenario, as the model would get it now. */
export async function turnPrompt(session: Session, scenario: Scenario, notes?: ProjectNotes): Promise<string> {
  const { services, workspace, state } = session;
  // Without the project's rules the model is asked nothing.
  await workspace.syncControl({ workedOn: state.knownFiles.paths, maxAgeMs: 250 });
  // Files that were worked on since may have notes of their own.
  const worked = [...state.knownFiles.paths].some((path) => path.includes("/"));
  const now = notes === undefined || worked ? await projectNotes(session) : notes;
  const { intents } = await services.governanceOf(workspace);
  const rules = await intents.rules(state.activeIntentId);
  const stages = workspace.client === undefined ? services.stages : undefined;
  return systemPrompt({
    scenario,
    workingDir: workspace.root,
    editingMode: session.settings.editingMode,
    stagedCommands: (await stages?.support(workspace.root))?.state === "staged",
    verbosity: session.settings.verbosity,
    platform: workspace.client?.platform ?? services.platform,
    date: new Date(services.now()).toISOString().slice(0, 10),
    todos: state.todos,
    projectNotes: now.text,
    skills: [...(await projectSkills(session)).values()],
    intents: {
      required: rules.on,
      selectable: rules.selectable,
      context: rules.active === undefined ? "" : intentContext(rules.active),
    },
  });
}

export async function projectNotes(session: Session): Promise<ProjectNotes> {
  const { services, workspace, state } = session;
  return readProjectNotes(workspace.controlRoot, services.redactor, {
    userDirectory: services.configDir,
    workedOn: state.knownFiles.paths,
    mayRead: await createMayRead(session),
  });
}

async function projectSkills(session: Session): Promise<ReadonlyMap<string, Skill>> {
  const { workspace, services } = session;
  const mayRead = await createMayRead(session);
  return (await loadSkills({ root: workspace.controlRoot, userDirectory: services.configDir, mayRead })).skills;
}
