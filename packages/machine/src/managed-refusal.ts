import { ServiceError } from "./service-error.ts";

/** A setting, an option or a request asks for what a policy in force does not permit. Nothing was done. */
class ManagedRefusal extends ServiceError {
  override readonly isWrongInput = true;

  /** @param why names the policy, its file and line */
  constructor(why: string) {
    super("failed_precondition", why, { reason: "managed_policy" });
  }
}

/** @param why see `laid-down.ts`; undefined: nothing is refused */
export function refuseManaged(why: string | undefined): void {
  if (why !== undefined) throw new ManagedRefusal(why);
}
