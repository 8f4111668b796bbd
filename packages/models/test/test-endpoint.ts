import type { ModelEndpoint } from "#model-endpoint";
import { nothingKnown } from "#model-facts";

/** Where a model is reached of which nobody knows anything. */
export function testEndpoint(place: Pick<ModelEndpoint, "baseUrl" | "model" | "apiKey">): ModelEndpoint {
  return { ...place, headers: {}, facts: nothingKnown };
}
