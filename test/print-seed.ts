/** Says how to repeat the choice of `someOf`. */
export default function printSeed(): void {
  process.stdout.write(`seed of the choices: MAINSTEM_TEST_SEED=${process.env.MAINSTEM_TEST_SEED}\n`)
}
