import { TurnBudget } from "@gennai/agent/events/turn-budget";
import type { Model } from "@gennai/agent/model";
import { ServiceError } from "@gennai/machine/service-error";
import { loadModelFacts } from "@gennai/models/catalogue/model-facts";
import { modelsFile } from "@gennai/models/models-file";
import type { Session } from "../session/session.ts";

/** The model resources of a turn. */
export interface TurnResources {
  readonly budget: TurnBudget;
  /** Tokens of the model's context, from the settings, the user's file or the catalogue; 0: as the model says. */
  readonly contextTokens: number;
  readonly warnings: readonly string[];
}

/** Throws `ServiceError` if a limit could not be enforced. */
export async function turnResources(session: Session, model: Model): Promise<TurnResources> {
  const { settings, state, services } = session;
  const known = await loadModelFacts(services.configDir);
  const facts = await known.of(settings, model.id);
  if (settings.maxCost > 0 && facts.prices === undefined) {
    throw new ServiceError(
      "failed_precondition",
      `The session has a budget of cost, and the prices of ${model.id} are not known.`,
      {
        hint:
          known.problem ?? `Write its prices into ${modelsFile} of the user's configuration, or take the budget away.`,
      },
    );
  }
  return {
    budget: new TurnBudget({ limits: settings, prices: facts.prices, before: state.usage }),
    contextTokens: settings.maxContextTokens || facts.contextTokens,
    warnings: known.problem === undefined ? [] : [known.problem],
  };
}
