import { applyCases } from "./apply-cases.ts";
import { type BridgeCase, type BridgeScene, SceneTools } from "./bridge-scene.ts";
import { commandCases } from "./command-cases.ts";
import { confirmationCases } from "./confirmation-cases.ts";
import { readCases } from "./read-cases.ts";

const allCases: readonly BridgeCase[] = [...readCases, ...applyCases, ...commandCases, ...confirmationCases];

/**
 * What every editor must do that answers a server's requests: the cases for the abilities it has, each in a scene of its own.
 * Give them to the runner at hand, vitest or the one in the extension host.
 */
export function bridgeConformance(
  abilities: readonly BridgeCase["ability"][],
  open: () => Promise<BridgeScene & AsyncDisposable>,
): readonly { readonly name: string; readonly run: () => Promise<void> }[] {
  return allCases
    .filter(({ ability }) => abilities.includes(ability))
    .map(({ name, ability, check }) => ({
      name: `${ability}: ${name}`,
      async run() {
        await using scene = await open();
        await check(new SceneTools(scene));
      },
    }));
}
