/** Why a workspace cannot be staged on this machine. */
export type StageObstacle =
  | "not_linux"
  | "program_missing"
  | "no_user_namespaces"
  | "no_overlay"
  | "overlay_refused"
  | "no_whiteouts"
  | "foreign_owner"
  | "shared_group"
  | "mount_inside"
  | "no_place"
  | "too_large"
  | "copy_refused";

/** The workspace cannot be staged here. `advice` is the one thing to do about it. */
export class StageUnavailable extends Error {
  override readonly name = "StageUnavailable";
  readonly obstacle: StageObstacle;
  readonly advice: string;

  constructor(obstacle: StageObstacle, message: string, advice: string, cause?: unknown) {
    super(message, { cause });
    this.obstacle = obstacle;
    this.advice = advice;
  }
}

/** What a command left cannot be looked at as a whole, so none of it can be kept. */
export class NotObservable extends Error {
  override readonly name = "NotObservable";
}
