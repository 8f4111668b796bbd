import type { ModelCapabilities } from "@gennai/agent/model";

/** What a model is taken to be able to do. One that nobody knows can do all: it says so itself where it cannot. */
export function capabilitiesOf({
  thinking = true,
  images = true,
}: Partial<Record<"thinking" | "images", boolean>>): ModelCapabilities {
  return { toolCalling: true, thinking, vision: images, structuredOutput: true };
}
