package main

import (
	"context"
	"errors"
	"flag"
	"net"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

const zone = ".svc.cluster.local."

// serveNames answers what pods ask of a cluster's name server: NAME.NAMESPACE.svc.cluster.local is the address of that Service. Every other
// name does not exist, as on a machine without a way out.
func serveNames(arguments []string) error {
	flags := flag.NewFlagSet("names", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "the cluster")
	listen := flags.String("listen", "", "address and port")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 10*time.Minute)
	services := factory.Core().V1().Services().Lister()
	factory.Start(context.Background().Done())
	factory.WaitForCacheSync(context.Background().Done())
	socket, err := net.ListenPacket("udp", *listen)
	if err != nil {
		return err
	}
	buffer := make([]byte, 1500)
	for {
		length, from, err := socket.ReadFrom(buffer)
		if err != nil {
			return err
		}
		if answer, err := answerName(buffer[:length], services); err == nil {
			_, _ = socket.WriteTo(answer, from)
		}
	}
}

// answerName builds the answer to one question; it fails for what is no question.
func answerName(packet []byte, services listers.ServiceLister) ([]byte, error) {
	var request dnsmessage.Message
	if err := request.Unpack(packet); err != nil {
		return nil, err
	}
	if request.Response || len(request.Questions) != 1 {
		return nil, errors.New("no single question")
	}
	question := request.Questions[0]
	answer := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: request.ID, Response: true, Authoritative: true, RecursionDesired: request.RecursionDesired, RecursionAvailable: true,
		},
		Questions: request.Questions,
	}
	address := addressOf(question.Name.String(), services)
	switch {
	case address == nil:
		answer.RCode = dnsmessage.RCodeNameError
	case question.Type == dnsmessage.TypeA:
		answer.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: 5},
			Body:   &dnsmessage.AResource{A: [4]byte(address)},
		}}
	}
	return answer.Pack()
}

// addressOf is the IPv4 address of the Service of that name, nil when there is none.
func addressOf(name string, services listers.ServiceLister) net.IP {
	inside, isService := strings.CutSuffix(strings.ToLower(name), zone)
	service, namespace, hasBoth := strings.Cut(inside, ".")
	if !isService || !hasBoth {
		return nil
	}
	found, err := services.Services(namespace).Get(service)
	if err != nil {
		return nil
	}
	return net.ParseIP(found.Spec.ClusterIP).To4() // nil for None: a headless Service has no address of its own
}
