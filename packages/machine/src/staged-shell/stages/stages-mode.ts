import { ExpectedError } from "../../expected-error.ts";

/**
 * Whether commands run on a stage. `auto`: if the workspace can be staged. `required`: otherwise they do not run. `off`: the
 * user's explicit choice.
 */
export type StagesMode = "auto" | "required" | "off";

export const stagesModes: readonly StagesMode[] = ["auto", "required", "off"];

/** The server must run commands only on a stage, and has no sandbox for one. The message says why and what to do. */
export class StagesRequired extends ExpectedError {
  override readonly name = "StagesRequired";
  readonly code = "stages_required";
  readonly isWrongInput = true;

  constructor(reason: string) {
    super(`Commands have to be staged, and there is no sandbox for that: ${reason}.`, {
      hint: "Install bubblewrap, and leave out --sandbox off; or leave out --stages required.",
    });
  }
}
