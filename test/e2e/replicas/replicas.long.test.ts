import { testReplicas } from "./replica-tests.ts";

testReplicas("all scenes", () => true);
