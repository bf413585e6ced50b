/** A span of time as messages and pages say it: at most two units, and none that is too fine for its length. Cut, never rounded up. */
export function spanInWords(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const minutes = Math.floor(whole / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return twoUnits(Math.floor(hours / 24), 'd', hours % 24, 'h');
  if (hours >= 24) return `${hours} h`;
  if (hours > 0) return twoUnits(hours, 'h', minutes % 60, 'min');
  if (minutes >= 5) return `${minutes} min`;
  return minutes > 0 ? twoUnits(minutes, 'min', whole % 60, 's') : `${whole} s`;
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
