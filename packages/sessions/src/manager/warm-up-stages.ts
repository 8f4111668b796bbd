import { zeroAccessOf } from "../policies/zero-access.ts";
import type { Session } from "../session/session.ts";

/** Has the stage for a session's first command made while nobody waits for it. What is wrong with it, that command says. */
export async function warmUpStages({ services, workspace }: Session): Promise<void> {
  const { stages } = services;
  if (stages === undefined || workspace.client !== undefined) return;
  const { rules } = await services.governanceOf(workspace);
  stages.warmUp(workspace.root, zeroAccessOf(await rules.current(), workspace.root));
}
