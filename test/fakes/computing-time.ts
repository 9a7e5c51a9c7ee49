/** Starts to measure what this process computes. The CPU time does not grow when others use the machine, as the time of the clock does. */
export function computingTime(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
}
