import { testReplicas } from "./replica-tests.ts";

testReplicas("all scenes of replicas", () => true);
