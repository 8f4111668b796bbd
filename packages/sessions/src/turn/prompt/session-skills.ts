import { createMayRead } from "../../context/may-read.ts";
import type { Session } from "../../session/session.ts";
import { loadSkills, type Skill } from "../../skills/load-skills.ts";

/** The skills that a turn of this session may use, by name. Throws `ServiceError` when the project's configuration cannot be read. */
export async function sessionSkills(session: Session): Promise<ReadonlyMap<string, Skill>> {
  const { workspace, services } = session;
  const mayRead = await createMayRead(session);
  return (await loadSkills({ root: workspace.controlRoot, userDirectory: services.configDir, mayRead })).skills;
}
