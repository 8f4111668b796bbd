import { testFence } from "./fence-race-tests.ts";

testFence(2);
