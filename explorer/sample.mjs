// A problem for benchmarks: lives of some steps, sizes over four orders of magnitude; the same every time.
export function sample(n) {
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed + 1) / 4294967297;
  };
  const lines = ["id,lower,upper,size"];
  for (let i = 0; i < n; i++) {
    const life = 1 + Math.floor(-8 * Math.log(random()));
    const spread = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    lines.push(`${i},${i},${i + life},${64 * Math.max(1, Math.floor(Math.exp(3.5 + 1.5 * spread)))}`);
  }
  return `${lines.join("\n")}\n`;
}
