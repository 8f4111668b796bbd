import { createMayRead, type MayRead } from "../context/may-read.ts";
import type { Session } from "../session/session.ts";
import { loadSkills, type Skill } from "./load-skills.ts";

/**
 * The skills that a turn of this session may use, by name. Throws `ServiceError` if the project's configuration cannot be read.
 * @param mayRead created for this session just before
 */
export async function sessionSkills(session: Session, mayRead?: MayRead): Promise<ReadonlyMap<string, Skill>> {
  const { workspace, services } = session;
  const options = { root: workspace.controlRoot, userDirectory: services.configDir, home: services.home };
  return (await loadSkills({ ...options, mayRead: mayRead ?? (await createMayRead(session)) })).found;
}
