package kubelet

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A podRun plays one pod from its binding to its end.
type podRun struct {
	kubelet *Kubelet
	pod     *v1.Pod
	// Closed when the API server was told to delete the pod; grace is valid from then on.
	deletion chan struct{}
	grace    time.Duration

	inits    []*containerRun
	regulars []*containerRun
	status   v1.PodStatus // what shall be
	written  v1.PodStatus // what the API server has
	evictAt  time.Time
}

func newPodRun(kubelet *Kubelet, pod *v1.Pod) *podRun {
	r := &podRun{kubelet: kubelet, pod: pod, deletion: make(chan struct{}), written: pod.Status, status: *pod.Status.DeepCopy()}
	containerOf := func(spec *v1.Container, sidecar bool) *containerRun {
		c := &containerRun{spec: spec, part: partOf(pod, spec.Name), sidecar: sidecar}
		c.status = &v1.ContainerStatus{Name: spec.Name, Image: spec.Image}
		reason := "ContainerCreating"
		if len(pod.Spec.InitContainers) > 0 {
			reason = "PodInitializing"
		}
		c.wait(reason, "")
		return c
	}
	for i := range pod.Spec.InitContainers {
		spec := &pod.Spec.InitContainers[i]
		r.inits = append(r.inits, containerOf(spec, spec.RestartPolicy != nil && *spec.RestartPolicy == v1.ContainerRestartPolicyAlways))
	}
	for i := range pod.Spec.Containers {
		r.regulars = append(r.regulars, containerOf(&pod.Spec.Containers[i], false))
	}
	return r
}

// play runs until the pod has ended or is gone.
func (r *podRun) play(ctx context.Context) {
	now := time.Now()
	startTime := metav1.NewTime(now)
	r.status.StartTime = &startTime
	r.status.Phase = v1.PodPending
	r.status.HostIP = "127.0.0.1"
	r.status.HostIPs = []v1.HostIP{{IP: "127.0.0.1"}}
	if !r.immediate() {
		r.fillStatus(now)
		r.write(ctx)
	}
	r.status.PodIP = r.kubelet.nextPodIP()
	r.status.PodIPs = []v1.PodIP{{IP: r.status.PodIP}}
	if first := r.regulars[0]; first.part.outcome.kind == outcomeEvicted {
		r.evictAt = now.Add(first.part.lasts)
	}

	for {
		now = time.Now()
		ended := r.advance(now)
		r.fillStatus(now)
		r.write(ctx)
		if ended {
			return
		}
		timer := time.NewTimer(time.Until(r.nextAt(now)))
		select {
		case <-timer.C:
		case <-r.deletion:
			timer.Stop()
			r.terminate(ctx)
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// immediate tells whether the pod ends in the moment it starts: it is then written once, not three times, which is what
// makes bursts of thousands of pods possible.
func (r *podRun) immediate() bool {
	if len(r.inits) > 0 {
		return false
	}
	for _, c := range r.regulars {
		if c.part.lasts > 0 || c.part.problem != "" || c.part.outcome.kind != outcomeExit {
			return false
		}
	}
	return true
}

// advance makes everything happen whose time has come, and tells whether the pod has ended.
func (r *podRun) advance(now time.Time) bool {
	if !r.evictAt.IsZero() && !now.Before(r.evictAt) {
		r.evict(now)
		return true
	}
	for _, c := range r.inits {
		if blocked, failed := r.advanceInit(c, now); failed {
			r.status.Phase = v1.PodFailed
			return true
		} else if blocked {
			return false
		}
	}
	allDone, anyFailed := true, false
	for _, c := range r.regulars {
		r.advanceContainer(c, now)
		if c.failed() && r.pod.Spec.RestartPolicy != v1.RestartPolicyNever {
			r.fail(c)
			c.backOff(r.pod, now, r.kubelet.options.RestartBackOff)
			r.advanceContainer(c, now)
		}
		allDone = allDone && c.stage == stageDone
		anyFailed = anyFailed || c.failed()
	}
	r.status.Phase = r.phase()
	if !allDone {
		return false
	}
	for _, c := range r.inits {
		if c.sidecar && c.stage == stageRunning {
			c.end(now, 0, "Completed", "")
		}
	}
	r.status.Phase = v1.PodSucceeded
	if anyFailed {
		r.status.Phase = v1.PodFailed
	}
	return true
}

// advanceInit moves one init container on; blocked: those after it have to wait; failed: the pod has failed.
func (r *podRun) advanceInit(c *containerRun, now time.Time) (blocked, failed bool) {
	r.advanceContainer(c, now)
	if c.failed() {
		if r.pod.Spec.RestartPolicy == v1.RestartPolicyNever && !c.sidecar {
			return true, true
		}
		r.fail(c)
		c.backOff(r.pod, now, r.kubelet.options.RestartBackOff)
		r.advanceContainer(c, now)
	}
	if c.sidecar {
		return c.stage != stageRunning, false
	}
	return c.stage != stageDone || c.failed(), false
}

func (r *podRun) advanceContainer(c *containerRun, now time.Time) {
	if c.stage == stageBackOff && c.due(now) {
		c.status.RestartCount++
		c.start(r.pod, now, r.kubelet.countAttempt(r.pod, r.isMain(c)))
	}
	if c.stage == stageWaiting {
		c.start(r.pod, now, r.kubelet.countAttempt(r.pod, r.isMain(c)))
		if c.stage == stageStuck {
			r.kubelet.warn(r.pod, "Failed", c.status.State.Waiting.Message)
		}
	}
	if c.stage == stageStuck && c.due(now) {
		c.until = time.Time{}
		c.wait("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q", c.spec.Image))
		r.kubelet.warn(r.pod, "BackOff", c.status.State.Waiting.Message)
	}
	if c.stage == stageRunning && c.due(now) {
		c.endByItself(now)
	}
}

func (r *podRun) isMain(c *containerRun) bool { return c == r.regulars[0] }

func (r *podRun) fail(c *containerRun) {
	if c.status.RestartCount > 0 {
		r.kubelet.warn(r.pod, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s_%s(%s)",
			c.spec.Name, r.pod.Name, r.pod.Namespace, r.pod.UID))
	}
}

func (r *podRun) phase() v1.PodPhase {
	for _, c := range r.regulars {
		if !c.everRan() {
			return v1.PodPending
		}
	}
	return v1.PodRunning
}

func (r *podRun) evict(now time.Time) {
	for _, c := range r.all() {
		if c.stage == stageRunning {
			c.end(now, 137, "Error", "")
		}
	}
	message := "The node was low on resource: memory. Threshold quantity: 100Mi, available: 12Mi. "
	r.status.Phase, r.status.Reason, r.status.Message = v1.PodFailed, "Evicted", message
	setCondition(&r.status, now, v1.DisruptionTarget, v1.ConditionTrue, "TerminationByKubelet", message)
	r.kubelet.warn(r.pod, "Evicted", message)
}

// terminate ends a pod that the API server was told to delete, as a kubelet does: a signal to each running container, the last
// status with every container accounted for, then the deletion without grace.
func (r *podRun) terminate(ctx context.Context) {
	now := time.Now()
	kill := time.Duration(0)
	for _, c := range r.all() {
		if c.stage == stageRunning && c.part.ignoreTerm {
			kill = r.grace
		}
	}
	r.endOnSignal(now, false)
	if kill > 0 {
		r.fillStatus(now)
		r.write(ctx)
		select {
		case <-time.After(kill):
		case <-ctx.Done():
			return
		}
		now = time.Now()
		r.endOnSignal(now, true)
	}
	r.accountForLost()
	r.status.Phase = v1.PodFailed
	r.fillStatus(now)
	r.write(ctx)
	r.kubelet.removePod(ctx, r.pod)
}

func (r *podRun) endOnSignal(now time.Time, kill bool) {
	for _, c := range r.all() {
		switch {
		case c.stage != stageRunning:
		case kill:
			c.end(now, 137, "Error", "")
		case !c.part.ignoreTerm:
			c.end(now, 143, "Error", "")
		}
	}
}

// accountForLost gives every container that never ran, or waits for a restart, a terminated state.
func (r *podRun) accountForLost() {
	initialized := len(r.inits) == 0 || r.regulars[0].everRan()
	for _, c := range r.all() {
		if c.stage == stageBackOff {
			c.status.State = c.status.LastTerminationState
		} else if c.stage != stageDone && initialized {
			c.status.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
				ExitCode: 137, Reason: "ContainerStatusUnknown",
				Message: "The container could not be located when the pod was terminated",
			}}
		}
	}
}

func (r *podRun) all() []*containerRun {
	return append(append([]*containerRun{}, r.inits...), r.regulars...)
}

// nextAt is when something happens by itself next; far away when nothing does.
func (r *podRun) nextAt(now time.Time) time.Time {
	next := now.Add(time.Hour)
	if !r.evictAt.IsZero() && r.evictAt.Before(next) {
		next = r.evictAt
	}
	for _, c := range r.all() {
		if !c.until.IsZero() && c.until.Before(next) {
			next = c.until
		}
	}
	return next
}
