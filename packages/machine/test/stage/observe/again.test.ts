import { testAsOneUser, testAsUsers } from "../as-users.ts";
import { scenarios as layerScenarios } from "../layer/layer-scenarios.ts";
import { scenarios as againScenarios } from "./again-scenarios.ts";
import { scenarios as gitScenarios } from "./git-scenarios.ts";
import { scenarios as observeScenarios } from "./observe-scenarios.ts";

testAsUsers(new URL("again-scenarios.ts", import.meta.url).href, againScenarios, "overlay again");

// What commands do is found as ever where something runs beside them.
testAsOneUser(new URL("observe-scenarios.ts", import.meta.url).href, observeScenarios, "overlay again");
testAsOneUser(new URL("../layer/layer-scenarios.ts", import.meta.url).href, layerScenarios, "overlay again");
testAsOneUser(new URL("git-scenarios.ts", import.meta.url).href, gitScenarios, "overlay again");
