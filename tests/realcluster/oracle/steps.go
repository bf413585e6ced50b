package oracle

import (
	"fmt"
	"reflect"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// take does what a step says, as a person with kubectl or an outage would.
func (c *cluster) take(step Step) error {
	switch step.Do {
	case "apply":
		return c.apply(step.Name, *step.Spec)
	case "delete":
		err := c.client.BatchV1().CronJobs(namespace).Delete(c.ctx, step.Name, metav1.DeleteOptions{})
		return ignoreMissing(err)
	case "runNow":
		err := c.runNow(step.Name)
		if errors.IsForbidden(err) && c.isRejecting() {
			return nil // the quota refuses the person too
		}
		return ignoreMissing(err)
	case "controllerDown":
		c.down()
	case "controllerUp":
		return c.up()
	case "rejectJobs":
		c.setRejecting(true)
	case "acceptJobs":
		c.setRejecting(false)
	default:
		return fmt.Errorf("a step cannot do %q", step.Do)
	}
	return nil
}

func (c *cluster) apply(name string, spec batchv1.CronJobSpec) error {
	cronJobs := c.client.BatchV1().CronJobs(namespace)
	spec.JobTemplate.Spec.Template.Spec.RestartPolicy = "Never"
	there, err := cronJobs.Get(c.ctx, name, metav1.GetOptions{})
	if errors.IsNotFound(err) {
		made := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
		_, err = cronJobs.Create(c.ctx, made, metav1.CreateOptions{})
		return err
	}
	if err != nil || reflect.DeepEqual(there.Spec, spec) {
		return err
	}
	edited := there.DeepCopy()
	edited.Spec = spec
	edited.Generation++
	_, err = cronJobs.Update(c.ctx, edited, metav1.UpdateOptions{})
	return err
}

// runNow makes the Job that `kubectl create job --from=cronjob/NAME` makes.
func (c *cluster) runNow(name string) error {
	from, err := c.client.BatchV1().CronJobs(namespace).Get(c.ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	made := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:        fmt.Sprintf("%s-by-hand-%d", name, time.Now().Unix()),
			Annotations: map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "CronJob", Name: from.Name, UID: from.UID, Controller: ptr.To(true),
			}},
		},
		Spec: from.Spec.JobTemplate.Spec,
	}
	_, err = c.client.BatchV1().Jobs(namespace).Create(c.ctx, made, metav1.CreateOptions{})
	return err
}

func ignoreMissing(err error) error {
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}
