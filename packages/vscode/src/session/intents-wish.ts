import type { IntentsMode } from "@gennai/protocol/model/governance/intents-mode";

/** What keeping the user's setting about intents needs. */
export interface IntentsWishPorts {
  /** The user's setting; empty: none. */
  wanted(): IntentsMode | "";
  /** Sets it for the session's workspace. */
  set(mode: IntentsMode): Promise<void>;
  /** What the server said it is now. */
  now(): IntentsMode | undefined;
  isWatching(): boolean;
}

/**
 * Makes the server's switch what the user's setting says, where it says anything and the server does not say it already:
 * setting it again would forget that a workspace had intents. True when it was changed.
 */
export async function keepIntentsWish(ports: IntentsWishPorts): Promise<boolean> {
  const [wanted, now] = [ports.wanted(), ports.now()];
  if (wanted === "" || now === undefined || wanted === now || ports.isWatching()) return false;
  await ports.set(wanted);
  return true;
}
