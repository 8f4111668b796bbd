import { nothingKnown } from "#catalogue/model-facts";
import type { ModelEndpoint } from "#model-endpoint";

/** Where a model is reached of which nobody knows anything. */
export function testEndpoint(place: Pick<ModelEndpoint, "baseUrl" | "model" | "apiKey">): ModelEndpoint {
  return { ...place, headers: {}, facts: nothingKnown };
}
