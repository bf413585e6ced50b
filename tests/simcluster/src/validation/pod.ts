import { fieldsOf, listOf, textOf } from '../json.ts';
import { duplicate, invalid, nonNegative, notSupported, required, type Fault } from './fault.ts';
import { labelFaults } from './names.ts';

/** Faults of a pod's spec, as far as Jobs and our tests need them. */
export function podSpecFaults(value: unknown, field: string): Fault[] {
  const spec = fieldsOf(value);
  const faults: Fault[] = [];
  const containers = listOf(spec['containers']);
  const names = new Set<string>();
  if (containers.length === 0) faults.push(required(`${field}.containers`));
  containers.forEach((container, index) =>
    faults.push(...containerFaults(container, `${field}.containers[${index}]`, names)),
  );
  listOf(spec['initContainers']).forEach((container, index) =>
    faults.push(...containerFaults(container, `${field}.initContainers[${index}]`, names)),
  );
  const policy = textOf(spec['restartPolicy']);
  if (policy !== '' && !['Always', 'OnFailure', 'Never'].includes(policy)) {
    faults.push(notSupported(`${field}.restartPolicy`, policy, ['Always', 'OnFailure', 'Never']));
  }
  const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
  const dnsPolicy = textOf(spec['dnsPolicy']);
  if (dnsPolicy !== '' && !dnsPolicies.includes(dnsPolicy)) {
    faults.push(notSupported(`${field}.dnsPolicy`, dnsPolicy, dnsPolicies));
  }
  faults.push(...nonNegative(`${field}.terminationGracePeriodSeconds`, spec['terminationGracePeriodSeconds']));
  const deadline = spec['activeDeadlineSeconds'];
  if (typeof deadline === 'number' && deadline < 1) {
    faults.push(invalid(`${field}.activeDeadlineSeconds`, deadline, 'must be between 1 and 2147483647, inclusive'));
  }
  return faults;
}

function containerFaults(value: unknown, field: string, names: Set<string>): Fault[] {
  const container = fieldsOf(value);
  const faults: Fault[] = [];
  const name = textOf(container['name']);
  if (name === '') faults.push(required(`${field}.name`));
  else faults.push(...labelFaults(name).map((detail) => invalid(`${field}.name`, name, detail)));
  if (name !== '' && names.has(name)) faults.push(duplicate(`${field}.name`, name));
  names.add(name);
  const image = textOf(container['image']);
  if (image === '') faults.push(required(`${field}.image`));
  else if (image.trim() !== image) {
    faults.push(invalid(`${field}.image`, image, 'must not have leading or trailing whitespace'));
  }
  const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
  const pullPolicy = textOf(container['imagePullPolicy']);
  if (pullPolicy !== '' && !pullPolicies.includes(pullPolicy)) {
    faults.push(notSupported(`${field}.imagePullPolicy`, pullPolicy, pullPolicies));
  }
  return faults;
}
