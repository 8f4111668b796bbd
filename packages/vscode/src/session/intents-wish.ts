import type { IntentsMode } from "@gennai/protocol/model/governance/intents-mode";

/** The functions that are needed to apply the user's setting about intents. */
export interface IntentsWishPorts {
  /** The user's setting; empty: none. */
  wanted(): IntentsMode | "";
  /** Sets it for the session's workspace. */
  set(mode: IntentsMode): Promise<void>;
  /** What the server last reported. */
  now(): IntentsMode | undefined;
  isWatching(): boolean;
}

/**
 * Applies the user's setting to the server, if there is a setting and the server's differs: setting the same value again would
 * make the server forget that a workspace had intents. True if it was changed.
 */
export async function keepIntentsWish(ports: IntentsWishPorts): Promise<boolean> {
  const [wanted, now] = [ports.wanted(), ports.now()];
  if (wanted === "" || now === undefined || wanted === now || ports.isWatching()) return false;
  await ports.set(wanted);
  return true;
}
